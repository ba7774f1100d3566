"""``gradaccum classroom release`` and ``grade``: each submission of a class is marked once, and its marks are kept."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from graded_class import FULL, UNIT
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.class_marks import BY_HAND_GUIDE, STILL_BY_HAND
from autograder.classroom.gradebook.lateness import COSTS_NOTHING
from autograder.classroom.grading.marks_store import MarksStore
from autograder.hosts.nbgrader_plugins import MarkSubmission
from autograder.isolation.sandbox import BWRAP
from autograder.marking.marked_notebook import mark
from autograder.marking.marker import Marker
from autograder.publishing.nbgrader_course import course_directory

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory):
    """A graded class, the result of the command, and the notebooks handed in, by student."""
    course = released.copied_to(tmp_path_factory.mktemp("course"))
    wrong = json.loads(course.right)
    for cell in wrong["cells"]:
        if cell.get("id") == "accumulate_gradient-solution":
            cell["source"] = "def accumulate_gradient(model, loss_fn, micro_batches):\n    pass\n"
    notebooks = {
        "right": course.right,
        "untouched": course.untouched,
        "wrong": json.dumps(wrong).encode(),
        "truncated": course.right[:20],
        "cut": course.right[: course.right.index(b"sum_form_lr-solution")],
        "hostile": course.right.replace(b"import torch", b"import torch, os; os._exit(0)", 1),
        "empty": b"",
    }
    for student, content in notebooks.items():
        course.hand_in(student, content)
    (course.directory / "submitted" / "misnamed" / UNIT).mkdir(parents=True)
    (course.directory / "submitted" / "misnamed" / UNIT / "my_solution.ipynb").write_bytes(course.right)
    return course, course.grade(status=1), notebooks


def test_the_gradebook_has_the_marks_of_each_submission_marked_alone(graded):
    course, _, notebooks = graded
    configured = MarkSubmission(config=course_directory(course.directory).config)
    expected = {"right": FULL, "untouched": 0, "empty": 0}
    with Marker(BWRAP) as marker:
        for name in ("wrong", "truncated", "cut", "hostile"):
            expected[name] = mark(notebooks[name], UNIT, seed=configured.seed_for(name, UNIT), marker=marker).marks.score
    assert course.scores() == expected
    assert 0 < expected["wrong"] < FULL


def test_the_summary_counts_submissions(graded):
    _, result, notebooks = graded
    line = re.search(rf"^{UNIT} +(.+)$", result.output, re.MULTILINE)
    assert line is not None
    row = line[1].split()
    assert row[:3] == [str(len(notebooks)), str(len(notebooks)), "0"]
    assert row[-2:] == ["2", "1"]  # unreadable: the truncated and the empty one; damaged: the one that was cut
    assert re.search(
        rf"^cut, {UNIT}: the file is damaged .* cells of it could be read; these were marked$", result.output, re.M
    )
    assert f"{len(notebooks)} marked, 0 unchanged, {len(notebooks)} put into the gradebook" in result.output


def test_a_folder_without_its_notebook_is_named(graded):
    _, result, _ = graded
    assert "misnamed/03_accumulate: holds my_solution.ipynb, but no 03_accumulate.ipynb; rename" in result.complaints


def test_progress_comes_with_an_estimate(graded):
    _, result, _ = graded
    assert re.findall(r"^\d of 7 marked, about \d+ s left$", result.complaints, re.MULTILINE)[-1].startswith("7 of 7")


def test_marks_are_stored_with_their_reasons(graded):
    course, _, _ = graded
    store = MarksStore(course.directory)
    assert len(store.submissions()) == 7
    assert store.read("truncated", UNIT).problem
    assert store.read("wrong", UNIT).exercises[0].score == 0
    assert "points, not written" in store.notebook_path("untouched", UNIT).read_text()


def test_feedback_made_by_nbgrader_shows_the_verdicts(graded):
    course, _, _ = graded
    nbgrader = str(Path(sys.executable).with_name("nbgrader"))
    subprocess.run(
        [nbgrader, "generate_feedback", UNIT, "--student", "right"], cwd=course.directory, check=True, capture_output=True
    )
    page = (course.directory / "feedback" / "right" / UNIT / f"{UNIT}.html").read_text()
    assert "accumulate_gradient: 6 of 6 points, right" in page


def test_an_unchanged_submission_is_not_marked_again(graded):
    course, _, _ = graded
    before = course.marks()
    again = course.grade(status=1)
    assert "0 marked, 7 unchanged, 0 put into the gradebook" in again.output
    assert course.marks() == before


def test_only_a_changed_submission_is_marked_and_a_manual_grade_survives(graded):
    course, _, _ = graded
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        gradebook.find_grade("accumulate_gradient", UNIT, UNIT, "wrong").manual_score = 1.5
        gradebook.db.commit()
    score, before = course.scores()["wrong"], course.marks()
    course.hand_in("untouched", course.right)
    shutil.rmtree(course.directory / "submitted" / "misnamed")
    result = course.grade("--students", "untouched,wrong")
    assert "1 marked, 1 unchanged, 1 put into the gradebook" in result.output, result
    assert course.scores()["untouched"] == FULL
    assert {name for name, file in course.marks().items() if file != before[name]} == {"untouched"}
    assert "1 marked, 0 unchanged" in course.grade("--students", "wrong", "--again").output
    assert course.scores()["wrong"] == score


def test_whose_time_is_not_known_is_said_when_they_are_marked_and_is_no_failure(course):
    config = course.directory / "nbgrader_config.py"
    policy = config.read_text()
    stamp = course.hand_in("ada", course.right).with_name("timestamp.txt")
    course.do("due", "03", "2026-11-01 12:30 UTC")
    assert "deducted" not in course.grade().complaints  # nothing would be, and nobody is known to be late
    config.write_text(policy.replace("per_day = 0", "per_day = 10"))
    untimed = f"{UNIT} was due, and nothing says when 1 submission came in, so nothing is deducted: "
    assert [untimed + "ada; if" in course.grade("--again").complaints for _ in range(2)] == [True, True]
    assert course.grade().complaints == ""  # so that who knows that all were in time need do nothing
    course.hand_in("bob", course.right)
    assert untimed + "bob; if" in course.grade().complaints
    stamp.write_text("2026-11-01 14:30 Europe/Berlin\n")
    assert course.grade().complaints == ""
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        assert gradebook.find_submission_notebook(UNIT, UNIT, "ada").late_submission_penalty == FULL / 10
    config.write_text(policy)
    assert COSTS_NOTHING in course.grade("--again").complaints
    assert course.grade().complaints == ""


def test_a_newer_notebook_has_neither_the_time_nor_unsaid_points_of_the_one_it_replaces(course):
    config = course.directory / "nbgrader_config.py"
    config.write_text(config.read_text().replace("per_day = 0", "per_day = 10"))
    stamp = course.hand_in("ada", course.untouched).with_name("timestamp.txt")
    stamp.write_text("2026-11-01 10:00 UTC\n")
    course.do("due", "3", "2026-11-01 12:30 UTC")
    assert "deducted" not in course.grade().complaints
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        grade = gradebook.find_submission_notebook(UNIT, UNIT, "ada").grades[0]
        grade.manual_score = 1.0
        gradebook.db.commit()
    stamp.unlink()
    course.hand_in("ada", course.right)
    said = course.grade().complaints
    assert "nothing says when 1 submission came in, so nothing is deducted: ada; if" in said
    assert f"{UNIT}: {STILL_BY_HAND}: ada; {BY_HAND_GUIDE}" in said
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        assert gradebook.find_submission(UNIT, "ada").timestamp is None
    assert course.grade().complaints == ""


def test_marks_of_a_notebook_that_was_handed_in_again_are_shown_nowhere_until_the_newer_one_is_marked(course, tmp_path):
    for student in ("ada", "bob"):
        course.hand_in(student, course.untouched)
    course.grade()
    course.hand_in("bob", course.right)
    table = tmp_path / "marks.csv"
    exported = course.do("export", "--to", str(table))
    assert f"{UNIT} was handed in, but is not marked, so left empty: bob" in exported.output + exported.complaints
    assert {row["student_id"]: row["score"] for row in csv.DictReader(table.open())} == {"ada": "0.0", "bob": ""}
    fed_back = course.do("feedback", status=1)
    assert f"not graded yet, so without a page: bob, {UNIT}" in fed_back.complaints
    course.do("report")
    assert "submission not marked yet" in (course.directory / "report.html").read_text()
    course.grade()
    assert course.scores() == {"ada": 0.0, "bob": FULL}
    assert "not marked" not in course.do("export", "--to", str(table), "--overwrite").complaints


def test_an_unreadable_timestamp_is_named_and_other_marks_are_recorded(graded):
    course, _, _ = graded
    times = {name: course.directory / "submitted" / name / UNIT / "timestamp.txt" for name in ("right", "wrong")}
    times["right"].write_text("yesterday or so\n")
    times["wrong"].write_text("2026-11-21 10:00:00 UTC\n")
    result = course.grade(status=1)
    assert "0 marked, 7 unchanged, 1 put into the gradebook" in result.output
    assert "the marks of the submissions of right are kept, but" in result.complaints
    assert "right/03_accumulate/timestamp.txt: 'yesterday or so' is no date with a time; write it like" in result.complaints
    times["right"].unlink()
    assert course.grade().output.endswith("0 put into the gradebook\n")
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        assert gradebook.find_submission(UNIT, "wrong").timestamp.hour == 10


def test_a_submission_with_damaged_marks_or_a_lost_notebook_is_marked_again(graded):
    course, _, _ = graded
    store, scores = MarksStore(course.directory), course.scores()
    store.path("right", UNIT).write_text("{")
    store.notebook_path("hostile", UNIT).unlink()
    assert "2 marked, 5 unchanged, 2 put into the gradebook" in course.grade().output
    assert course.scores() == scores


def test_a_new_gradebook_is_filled_without_marking_again(graded):
    course, _, _ = graded
    (course.directory / "gradebook.db").unlink()
    refused = course.grade("--students", "right,wrong", status=1)
    assert "03_accumulate has not been released in this class, but 2 submissions are there" in refused.complaints
    assert "use gradaccum classroom release" in refused.complaints
    course.do("release", "--units", "03")
    assert "0 marked, 2 unchanged, 2 put into the gradebook" in course.grade("--students", "right,wrong").output
    assert course.scores()["right"] == FULL


@pytest.mark.parametrize("command", ["grade", "release"])
def test_a_directory_that_is_not_a_class_is_refused(tmp_path, command):
    result = CliRunner().invoke(app, [command, str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "is no class (it has no nbgrader_config.py)" in result.stderr


def test_a_broken_configuration_is_named(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = 1 +\n")
    result = CliRunner().invoke(app, ["grade", str(tmp_path)])
    assert result.exit_code == 2
    assert "nbgrader_config.py: SyntaxError" in result.stderr


def test_an_unknown_unit_is_refused(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    result = CliRunner().invoke(app, ["grade", str(tmp_path), "--units", "99"])
    assert result.exit_code == 2
    assert "no unit is called '99'" in result.stderr


def test_in_a_class_without_submissions_there_is_nothing_to_do(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    result = CliRunner().invoke(app, ["grade", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (0, "0 marked, 0 unchanged, 0 put into the gradebook\n")
