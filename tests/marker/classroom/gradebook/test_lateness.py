"""Late work costs what the configuration says, whether we or nbgrader itself ask its plug-in."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta

import pytest
from exported_class import ACCUMULATE
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import TraitError
from traitlets.config import Config

from autograder.classroom.course import existing_class
from autograder.classroom.gradebook.lateness import Lateness, LateWork, duration, seconds_late, update_lateness
from autograder.nbgrader_plugins import DeductPerDay

pytestmark = pytest.mark.slow

DAY = 86400


@pytest.mark.parametrize(("seconds", "points"), [(1, 1), (DAY, 1), (DAY + 1, 2), (3 * DAY, 3), (30 * DAY, 5)])
def test_each_day_begun_costs_a_share_of_the_units_points_up_to_a_limit(seconds, points):
    policy = DeductPerDay(per_day=10, at_most=50)
    policy.max_points = 10
    assert policy.late_submission_penalty("ada", 7, seconds) == points


def test_minutes_of_grace_cost_nothing_and_are_not_added_to_the_deadline():
    policy = DeductPerDay(per_day=10, grace_minutes=15)
    policy.max_points = 10
    assert policy.late_submission_penalty("ada", 7, 15 * 60) is None
    assert policy.late_submission_penalty("ada", 7, DAY + 60) == 2


def test_the_method_zero_of_nbgrader_takes_all_points():
    policy = DeductPerDay(config=Config({"LateSubmissionPlugin": {"penalty_method": "zero"}}))
    assert policy.late_submission_penalty("ada", 7, 1) == 7
    assert policy.penalty_if_marked_late(7) == 7


def test_a_share_that_is_no_percentage_is_refused():
    with pytest.raises(TraitError, match="per_day"):
        DeductPerDay(per_day=101)


@pytest.fixture
def directory(school, tmp_path):
    """A copy of the class, in which each day begun costs 10 percent; unit 03 was due 60.5 hours before ada handed it in."""
    copy = shutil.copytree(school, tmp_path / "class")
    config = copy / "nbgrader_config.py"
    config.write_text(config.read_text().replace("per_day = 0", "per_day = 10"))
    return copy


def penalty(directory) -> float | None:
    with Gradebook(f"sqlite:///{directory}/gradebook.db") as gradebook:
        return gradebook.find_submission_notebook(ACCUMULATE, ACCUMULATE, "ada").late_submission_penalty


def test_nbgraders_own_autograde_takes_off_the_same(directory):
    course, url = existing_class(directory), f"sqlite:///{directory}/gradebook.db"
    update_lateness(course)
    ours = penalty(directory)
    with Gradebook(url) as gradebook:
        gradebook.find_submission_notebook(ACCUMULATE, ACCUMULATE, "ada").late_submission_penalty = None
        gradebook.db.commit()
    place = {"notebook": ACCUMULATE, "assignment": ACCUMULATE, "student": "ada", "db_url": url}
    AssignLatePenalties(config=course.config).preprocess(new_notebook(), {"nbgrader": place})
    assert penalty(directory) == ours == 2.4


def test_a_plug_in_of_the_instructors_own_decides_in_its_place(directory):
    config = directory / "nbgrader_config.py"
    config.write_text(
        f"{config.read_text()}\nfrom nbgrader.plugins import LateSubmissionPlugin\n"
        "class Own(LateSubmissionPlugin):\n    def late_submission_penalty(self, student, score, seconds):\n"
        "        return seconds / 3600 / 100\nc.AssignLatePenalties.plugin_class = Own\n"
    )
    late_work = update_lateness(existing_class(directory))
    assert late_work.costs
    assert late_work.late["ada", ACCUMULATE].penalty == pytest.approx(0.605)


def test_without_a_gradebook_nobody_is_late(tmp_path):
    from autograder.publishing.nbgrader_course import make_course

    make_course(tmp_path / "class", {})
    assert update_lateness(existing_class(tmp_path / "class")) == LateWork(costs=False)
    assert not (tmp_path / "class/gradebook.db").exists()


def test_work_is_late_only_if_both_times_are_known_and_the_extra_time_is_over():
    due = datetime(2026, 11, 1)
    assert seconds_late(None, due, None) == seconds_late(due, None, timedelta(1)) == 0
    assert seconds_late(due + timedelta(hours=25), due, timedelta(days=1)) == 3600
    assert seconds_late(due + timedelta(hours=24), due, timedelta(days=1)) == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "1 minute"),
        (119 * 60, "119 minutes"),
        (119 * 60 + 1, "2 hours"),
        (26 * 3600, "26 hours"),
        (10 * 3600 + 1, "10 hours and 1 minute"),
        (72 * 3600 - 1, "3 days"),
        (72 * 3600, "3 days"),
        (73 * 3600, "3 days and 1 hour"),
    ],
)
def test_a_duration_is_said_in_units_that_fit(seconds, words):
    assert duration(seconds) == words


def test_a_student_is_told_how_late_work_was_and_what_it_cost():
    assert str(Lateness(26 * 3600, 2, 10)) == "handed in 26 hours late: 2 of 10 points deducted"
    assert str(Lateness(60, 0, 10)) == "handed in 1 minute late: no points deducted"
    assert str(Lateness(None, 2.5, 10)) == "marked as late by the LMS: 2.5 of 10 points deducted"
