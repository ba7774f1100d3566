"""What an instructor decides changes totals at once, in the gradebook and in what is exported; nothing is marked again."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from exported_class import ACCUMULATE, LOOP, by
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.deadlines import Deadlines, write_deadlines
from autograder.classroom.gradebook.lateness import COSTS_NOTHING, GUIDE, NOT_TAKEN_IN
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.grading.grade_class import points_now
from autograder.classroom.students import IN_TIME_MARK, LATE_MARK, MOODLE_MARK, TIME_FILE

pytestmark = pytest.mark.slow

EARLY = "2026-11-01 12:30 UTC"
"""Two days before everything was handed in."""


@pytest.fixture
def late_school(school, tmp_path):
    """A copy of the class, in which each day begun costs 10 percent and a mark of the LMS 25, and no unit is due."""
    directory = shutil.copytree(school, tmp_path / "class")
    config = directory / "nbgrader_config.py"
    text = config.read_text().replace("per_day = 0", "per_day = 10").replace("marked_late = 0", "marked_late = 25")
    config.write_text(text)
    with Gradebook(f"sqlite:///{directory}/gradebook.db") as gradebook:
        for assignment in gradebook.assignments:
            assignment.duedate = None
            for submission in assignment.submissions:
                submission.notebooks[0].late_submission_penalty = None
        gradebook.db.commit()
    return directory


@pytest.fixture
def do(late_school):
    """Runs a command on the class; returns its output and complaints."""

    def do(command: str, *options: str, status: int = 0) -> tuple[list[str], list[str]]:
        result = CliRunner().invoke(app, [command, str(late_school), *options])
        assert result.exit_code == status, (result.output, result.exc_info)
        return result.stdout.splitlines(), result.stderr.replace(f"gradaccum classroom {command}: ", "").splitlines()

    return do


@pytest.fixture
def scores(late_school, export):
    """Exports the class; returns points, penalty and score by student, of those for whom the unit is due."""
    columns = ("raw_score", "late_submission_penalty", "score")

    def scores(unit: str = ACCUMULATE) -> dict[str, tuple[float, ...]]:
        _, rows, _ = export("--units", unit, directory=late_school)
        return {who: tuple(map(float, points)) for who, points in by(rows, "student_id", *columns).items() if all(points)}

    return scores


def test_a_due_date_takes_points_off_and_its_change_gives_them_back(do, scores):
    said, complaints = do("due", "03", EARLY)
    changed = f"points of {ACCUMULATE} have changed; make feedback, report and exports again"
    assert said == [f"{ACCUMULATE} is due {EARLY}", "late: 3 submissions, 2.6 points deducted", changed]
    assert complaints == []
    assert scores() == {"ada": (8, 1.6, 6.4), "bob": (1, 1, 0), "eve": (0, 0, 0), "kim": (0, 0, 0)}
    assert do("due", "03", EARLY)[0] == said[:2]
    assert do("due", "03", "2026-11-30 23:59 Europe/Berlin")[0][1:] == [changed]
    assert scores()["ada"] == (8, 0, 8)
    do("due", "03", EARLY)
    do("due", "03", "none")
    assert scores()["ada"] == (8, 0, 8)


def test_extra_time_moves_with_the_due_date_and_can_be_taken_back(do, scores):
    do("due", "03", EARLY)
    assert do("extend", "ada", "03", "1")[0] == [
        f"ada has until 2026-11-02 12:30 UTC for {ACCUMULATE}",
        "handed in 24 hours late: 0.8 of 8 points deducted",
        "points of ada have changed; make feedback, report and exports again",
    ]
    assert do("extend", "ada", "03", "1")[0][1:] == ["handed in 24 hours late: 0.8 of 8 points deducted"]
    assert do("extend", "eve", "03", "30")[0][1:] == []  # eve has no points to get back
    assert scores()["ada"] == (8, 0.8, 7.2)
    do("due", "03", "2026-11-02 12:30 UTC")
    assert scores()["ada"] == (8, 0, 8)
    do("extend", "ada", "03", "0")
    assert scores()["ada"] == (8, 0.8, 7.2)


def test_a_deadline_that_another_command_has_just_set_is_kept(do, monkeypatch):
    locked = ClassToMark.locked

    @contextlib.contextmanager
    def locked_after_another(marked_class):
        with locked(marked_class):
            write_deadlines(marked_class.coursedir, Deadlines({LOOP: EARLY}))
            yield

    monkeypatch.setattr(ClassToMark, "locked", locked_after_another)
    assert do("due", "03", EARLY)[0][:2] == [f"{ACCUMULATE} is due {EARLY}", f"{LOOP} is due {EARLY}"]


def test_a_student_who_has_handed_in_nothing_can_have_extra_time(do):
    assert do("extend", "kim", "03", "1.5")[0] == [
        f"kim has 1.5 more days for {ACCUMULATE}, once gradaccum classroom due says when it is due"
    ]
    assert do("extend", "kim", "04", "1")[0][0].startswith(f"kim has 1 more day for {LOOP}, once")
    do("extend", "kim", "04", "0")
    do("due", "03", EARLY)
    assert do("due")[0] == [
        f"{ACCUMULATE} is due {EARLY}",
        f"kim has 1.5 more days for {ACCUMULATE}, until 2026-11-03 00:30 UTC",
    ]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("due", "03"), "no date for 03; write it like '2026-11-30 23:59 Europe/Berlin', or none"),
        (("due", "--in-time"), "--in-time needs a unit, such as 03"),
        (("drop", "03"), f"no exercise of {ACCUMULATE} is named; write its name after the unit"),
        (("due", "33", EARLY), "no unit is called '33'"),
        (("due", "03,04", EARLY), "'03,04' names 2 units; name one"),
        (("extend", "ian", "03", "1"), "has no student 'ian'"),
        (("extend", "ada", "03", "soon"), "'soon' is no number of days"),
        (("drop", "04", "train_epoch"), f"{LOOP} has no exercise 'train_epoch'; there are code, prose"),
        (("drop", "03", "code"), f"nothing would give points in {ACCUMULATE} without code"),
        (("drop", "04", "prose", "--undo"), f"'prose' is not dropped; dropped exercises of {LOOP}: none"),
    ],
)
def test_a_decision_that_cannot_be_taken_is_refused_and_changes_nothing(do, late_school, command, words):
    before = {path.name for path in late_school.iterdir()}
    _, complaints = do(*command, status=2)
    assert len(complaints) == 1
    assert words in complaints[0]
    assert {path.name for path in late_school.iterdir()} - before <= {".grading.lock"}


def test_a_decision_that_cannot_be_put_into_the_gradebook_is_not_taken(do, late_school):
    do("due", "03", EARLY)
    before = (late_school / "deadlines.csv").read_bytes()
    (late_school / "gradebook.db").write_bytes(b"no database")
    assert "file is not a database" in do("due", "03", "none", status=2)[1][0]
    assert (late_school / "deadlines.csv").read_bytes() == before


def change(late_school, *values: str) -> None:
    """Set options of the policy in the configuration, such as ``"per_day = 0"``."""
    config = late_school / "nbgrader_config.py"
    config.write_text("\n".join([config.read_text(), *(f"c.DeductPerDay.{value}" for value in values)]))


def test_a_policy_that_costs_nothing_is_said_where_a_unit_is_due(do, late_school):
    change(late_school, "per_day = 0", "marked_late = 0")
    said, complaints = do("due", "03", EARLY)
    assert said[-1] == "late: 3 submissions, 0 points deducted"
    assert complaints == [COSTS_NOTHING]
    assert do("due", "03", "2030-11-30 23:59 UTC")[1] == [COSTS_NOTHING]  # nobody is late
    assert do("extend", "ada", "03", "1")[1] == []
    assert do("due", "03", "none")[1] == []
    change(late_school, "marked_late = 10")
    assert do("due", "03", EARLY)[1] == []


def mark_late(directory, student: str) -> Path:
    place = directory / "submitted" / student / ACCUMULATE
    place.mkdir(parents=True, exist_ok=True)
    (place / LATE_MARK).write_text("marked as late by Canvas\n")
    return place


def test_what_an_lms_marks_as_late_without_a_time_costs_once(do, scores, late_school):
    mark_late(late_school, "ada")
    do("due", "04", EARLY)
    assert scores()["ada"] == (8, 2, 6)


UNDECIDED = (
    f"ada, {ACCUMULATE}: the LMS says that it was late, but not when it was handed in; it may be within the extra time,"
    f" so nothing is deducted; look it up there, and note the time in submitted/ada/{ACCUMULATE}/timestamp.txt; {GUIDE}"
)


def test_a_mark_of_the_lms_costs_nothing_if_the_student_has_extra_time(do, scores, late_school, export):
    mark_late(late_school, "ada")
    assert do("extend", "ada", "03", "1")[1] == [UNDECIDED]
    assert do("due", "03", EARLY)[1] == [UNDECIDED]
    _, late_work, complaints = points_now(ClassToMark(late_school))
    assert (late_work.remarks(lambda one: True), complaints) == ([UNDECIDED], [])
    assert UNDECIDED in export("--units", "03", directory=late_school)[2]
    assert scores()["ada"] == (8, 0, 8)
    assert do("extend", "ada", "03", "0")[1] == []
    assert scores()["ada"] == (8, 2, 6)


def test_a_mark_of_the_lms_is_said_only_where_it_may_cost_something(do, late_school):
    mark_late(late_school, "ada")
    do("extend", "ada", "03", "1")
    assert do("extend", "bob", "03", "1")[1] == do("extend", "ada", "04", "1")[1] == do("due", "04", EARLY)[1] == []
    assert do("due", "03", "2030-11-30 23:59 UTC")[1] == []  # the extra time is not over
    assert do("due", "03", EARLY)[1] == [UNDECIDED]
    change(late_school, "marked_late = 0")
    assert do("due", "03", EARLY)[1] == []


def test_a_time_of_ones_own_settles_what_an_lms_leaves_open(do, scores, late_school):
    place = mark_late(late_school, "ada")
    do("extend", "ada", "03", "1")
    (place / TIME_FILE).write_text("2026-11-03 13:30 Europe/Berlin\n")
    do("due", "03", "2026-11-03 12:00 UTC")
    assert do("due", "03", EARLY)[1] == []
    assert scores()["ada"] == (8, 0.8, 7.2)


@pytest.fixture
def untimed(late_school):
    """The class, in which nothing says when something was handed in."""
    with Gradebook(f"sqlite:///{late_school}/gradebook.db") as gradebook:
        for assignment in gradebook.assignments:
            for submission in assignment.submissions:
                submission.timestamp = None
        gradebook.db.commit()
    return late_school


@pytest.mark.usefixtures("untimed")
def test_who_would_lose_points_and_may_have_been_late_is_named(do, export, late_school):
    untimed = (
        f"{ACCUMULATE} was due, and nothing says when 2 submissions came in, so nothing is deducted: ada, bob; if somebody was"
        f" late, note the time in submitted/STUDENT/{ACCUMULATE}/timestamp.txt; if nobody else was, give due 03 --in-time;"
        f" {GUIDE}"
    )
    assert do("due", "03", EARLY)[1] == [untimed]  # eve has no points to lose
    mark = late_school / f"submitted/bob/{ACCUMULATE}/{MOODLE_MARK}"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text("12\n")
    (advised,) = do("due", "03", EARLY)[1]
    assert "if somebody was late, give grade Moodle's worksheet (--worksheet), or note the time in submitted/" in advised
    mark.unlink()
    assert do("due", "04", "2030-11-30 23:59 UTC")[1] == []
    assert do("extend", "bob", "03", "3000")[1] == []
    one = untimed.replace("2 submissions", "1 submission").replace("ada, bob", "ada")
    assert points_now(ClassToMark(late_school))[1].remarks(lambda one: True) == [one]
    assert one in export("--units", "03", directory=late_school)[2]
    assert one not in export("--units", "04", directory=late_school)[2]
    (mark_late(late_school, "ada") / LATE_MARK).rename(late_school / f"submitted/ada/{ACCUMULATE}/{IN_TIME_MARK}")
    assert points_now(ClassToMark(late_school))[1].remarks(lambda one: True) == []


@pytest.mark.usefixtures("untimed")
def test_a_time_that_was_written_but_not_taken_in_is_not_called_unknown(do, late_school):
    place = late_school / f"submitted/bob/{ACCUMULATE}"
    place.mkdir(parents=True, exist_ok=True)
    (place / TIME_FILE).write_text("2026-11-03 13:30 Europe/Berlin\n")
    unknown, written = do("due", "03", EARLY)[1]
    assert "nothing says when 1 submission came in, so nothing is deducted: ada; " in unknown
    assert written == f"bob, {ACCUMULATE}: {NOT_TAKEN_IN}"


@pytest.fixture
def hand_in(untimed):
    """Puts a notebook into the class."""

    def hand_in(student: str) -> Path:
        place = untimed / f"submitted/{student}/{ACCUMULATE}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{ACCUMULATE}.ipynb").write_text("{}")
        return place

    return hand_in


def test_all_that_has_come_in_without_a_time_can_be_in_time(do, hand_in):
    for student in ("ada", "bob", "eve"):
        place = hand_in(student)
    (place / LATE_MARK).write_text("marked as late by Canvas\n")
    do("due", "03", EARLY)
    said, complaints = do("due", "03", "--in-time")
    assert said[:2] == [f"{ACCUMULATE} is due {EARLY}", "in time: 2 submissions without a time"]
    assert complaints == []
    assert do("due", "03", EARLY)[1] == []
    assert not (place / IN_TIME_MARK).exists()
    assert do("due", "03", "--in-time")[0][1] == "in time: 0 submissions without a time"


def test_dropped_exercises_are_shown(do):
    assert do("drop")[0] == ["all exercises count"]
    do("drop", "04", "prose", "--reason", "Unclear.")
    assert do("drop")[0] == [f"prose of {LOOP} does not count: Unclear."]


def test_an_unknown_time_is_not_said_if_nothing_is_deducted(do, untimed):
    change(untimed, "per_day = 0")
    assert do("due", "03", EARLY)[1] == []


def test_extra_time_of_somebody_who_is_not_in_the_class_is_named(do, late_school):
    (late_school / "deadlines.csv").write_text("unit,student,due,extra_days\n03,ian,,1\n")
    assert "gives extra time to 'ian', who is not in the class" in do("due", "03", EARLY)[1][0]


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("deadlines.csv", "unit,student,due,extra_days\n33,,2026-11-30 23:59 UTC,\n33,ada,,1\n"),
        ("dropped.csv", "unit,exercise,reason\n33,same_update,\n"),
    ],
)
def test_a_unit_that_is_not_in_the_course_is_named_with_its_line(late_school, table, text):
    (late_school / table).write_text(text)
    _, _, notes = points_now(ClassToMark(late_school))
    assert len(notes) == text.count("\n33,")
    assert f"{table}, line 2, column unit: no unit is called '33'; there are 00_start_here" in notes[0]


def test_a_dropped_exercise_gives_no_points_in_any_export_until_it_counts_again(do, export, late_school):
    before = export("--format", "canvas", directory=late_school)[1]
    said, _ = do("drop", "04", "prose", "--reason", "It was unclear.")
    assert said == [f"prose of {LOOP} does not count; make feedback, report and exports again"]
    _, rows, notes = export("--format", "canvas", directory=late_school)
    assert by(rows, "SIS Login ID", LOOP) == {"": ("8",), "ada": ("7.33333",), "bob": ("5",), "eve": ("",), "kim": ("",)}
    assert notes[0] == f"prose of {LOOP} does not count, so left out"
    do("drop", "04", "prose")
    assert do("drop")[0] == [f"prose of {LOOP} does not count: It was unclear."]
    do("drop", "04", "prose", "--undo")
    assert export("--format", "canvas", directory=late_school)[1] == before


def test_a_penalty_is_a_share_of_the_points_without_dropped_exercises(do, scores):
    do("due", "04", EARLY)
    assert scores(LOOP)["bob"] == (5, 2, 3)
    do("drop", "04", "prose")
    assert scores(LOOP)["bob"] == (5, 1.6, 3.4)


def test_a_table_that_cannot_be_used_is_named_and_grade_shows_marks_without_it(late_school):
    assert points_now(ClassToMark(late_school))[0].max_scores == {ACCUMULATE: 8, LOOP: 10}
    (late_school / "deadlines.csv").write_text("unit,student,due,extra_days\n03,,tomorrow,\n03,bob,,soon\n")
    points, _, notes = points_now(ClassToMark(late_school))
    assert points is None
    assert [note.partition("deadlines.csv, ")[2][:22] for note in notes] == ["line 2, column due: 't", "line 3, column extra_d"]
