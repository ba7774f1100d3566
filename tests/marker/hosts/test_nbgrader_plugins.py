"""nbgrader with the configuration of a class: its own commands mark in the sandbox, as ``gradaccum check`` does."""

from __future__ import annotations

import copy
import csv
import html
import json
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader_class import HALF_THE_PUZZLE, NO_PYTHON, ORDER, UNIT, Course, Student, mistaken

from autograder.hosts.nbgrader_plugins import MarkSubmission
from autograder.publishing.nbgrader_course import course_directory

pytestmark = pytest.mark.slow

CLASS = (
    Student("right", (6, 1, 1, 1, 1), said="train_epoch: 6 of 6 points, right"),
    mistaken("no-scale", 2),
    mistaken("mean-of-means", 5),
    Student(
        "half-done",
        (0, 1, 1, 0, 0.5),
        written={"name_that_loop": HALF_THE_PUZZLE},
        unwritten=("train_epoch", "repaired_lost_tail"),
        said="Look again at D, E and F.",
    ),
    Student("empty", (0, 0, 0, 0, 0), unwritten=ORDER, said="train_epoch: 0 of 6 points, not written"),
    Student("syntax-error", (6, 1, 0, 1, 1), written={"repaired_eager_step": NO_PYTHON}, said="is not Python"),
    Student(
        "deleted-cells",
        (0, 1, 1, 1, 1),
        deleted=("train_epoch-solution", "name_that_loop"),
        said="There is no cell for train_epoch in your file.",
    ),
)
FULL = dict(zip(ORDER, (6, 1, 1, 1, 1), strict=True))
DUPLICATE, TRUNCATED, OWN = "duplicated-cells", "truncated", "own"

HOSTILE = """
import os, socket
from pathlib import Path
print("I was here")
class_directory = Path({directory!r})
for path in [class_directory / "gradebook.db", class_directory / "bait.txt"]:
    try:
        path.write_text("marks for everybody")
    except OSError:
        pass
os._exit(0)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """A class with unit 04 and a notebook of the instructor's own in it, marked once."""
    course = Course(tmp_path_factory.mktemp("course"))
    own_notebook(course)
    for unit in (UNIT, OWN):
        course.run("nbgrader", "generate_assignment", unit)
    for student in CLASS:
        course.submit(student.name, student.notebook(course))
    for name, notebook in odd_notebooks(course).items():
        course.submit(name, notebook)
    place = course.directory / "submitted" / TRUNCATED / UNIT
    place.mkdir(parents=True)
    whole = (course.directory / "submitted" / "right" / UNIT / f"{UNIT}.ipynb").read_bytes()
    (place / f"{UNIT}.ipynb").write_bytes(whole[:20])
    course.submit("right", course.notebook("source", OWN), OWN)
    (course.directory / "bait.txt").write_text("bait")
    for unit in (UNIT, OWN):
        course.run("nbgrader", "autograde", unit)
    course.run("nbgrader", "generate_feedback", UNIT)
    course.run("nbgrader", "export")
    return course


def odd_notebooks(course: Course) -> dict[str, nbformat.NotebookNode]:
    """Right answers in notebooks that nbgrader by itself would not mark as right, or not at all."""
    duplicated, hostile, forged, noisy = (Student("", ()).notebook(course) for _ in range(4))
    for k, cell in enumerate(copy.deepcopy(duplicated.cells[-6:])):
        cell.id = f"copy-{k}"
        duplicated.cells.append(cell)
    hostile.cells.insert(1, new_code_cell(HOSTILE.format(directory=str(course.directory))))
    for cell in forged.cells:
        if cell.id in ORDER:
            cell.metadata.nbgrader["points"] = 100
            cell.outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "100.0"}, execution_count=1)]
    forged.cells.insert(1, new_markdown_cell("<script>document.title = 'taken'</script> <img src=x onerror=alert(1)>"))
    noisy.cells.insert(1, new_code_cell("import sys, warnings\nprint('loud', file=sys.stderr)\nwarnings.warn('careful')"))
    return {DUPLICATE: duplicated, "hostile": hostile, "forged": forged, "noisy": noisy}


def own_notebook(course: Course) -> None:
    """An assignment that has nothing to do with the course."""
    cells = [
        new_code_cell("import os\n### BEGIN SOLUTION\nvalue = 2\n### END SOLUTION", metadata=roles("value", solution=True)),
        new_code_cell("assert value == 2\nassert not os.path.exists('../../gradebook.db')", metadata=roles("check", points=3)),
    ]
    place = course.directory / "source" / OWN
    place.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), place / f"{OWN}.ipynb")


def roles(name: str, solution: bool = False, points: int | None = None) -> dict:
    grade = points is not None
    told = {"grade_id": name, "solution": solution, "grade": grade, "locked": grade, "task": False, "schema_version": 3}
    return {"nbgrader": told | ({"points": points} if grade else {})}


@pytest.mark.parametrize("student", CLASS, ids=lambda student: student.name)
def test_the_gradebook_has_the_points(course, student):
    assert course.grades(student.name) == dict(zip(ORDER, student.points, strict=True))


@pytest.mark.parametrize("student", CLASS, ids=lambda student: student.name)
def test_the_feedback_says_why(course, student):
    assert student.said in html.unescape(course.feedback(student.name))


@pytest.mark.parametrize("name", [DUPLICATE, "hostile", "forged", "noisy"])
def test_oddities_of_a_notebook_change_no_marks(course, name):
    assert course.grades(name) == FULL


def test_an_unreadable_file_gets_no_points_and_the_reason(course):
    assert course.grades(TRUNCATED) == dict.fromkeys(ORDER, 0)
    assert "is not JSON" in course.feedback(TRUNCATED)


def test_no_submission_writes_into_the_class(course):
    assert (course.directory / "bait.txt").read_text() == "bait"


def test_what_cells_print_is_in_the_feedback(course):
    assert "I was here" in course.feedback("hostile")


def test_script_in_a_student_s_text_does_not_reach_the_page(course):
    page = course.feedback("forged")
    assert "<script>document.title = 'taken'" not in page
    assert "<img src=x" not in page


def test_the_feedback_shows_both_fingerprints_of_a_mistake(course):
    page = html.unescape(course.feedback("no-scale"))
    assert page.count("A right loop's fingerprint") == page.count("Your loop's fingerprint") == 1


def test_feedback_shows_no_solution_and_no_seed(course):
    given = {line for cell in course.notebook("release", UNIT).cells for line in cell.source.split("\n")}
    source = course.notebook("source", UNIT)
    secret = {line for cell in source.cells if cell.id.endswith("-solution") for line in cell.source.split("\n")} - given
    shown = html.unescape(re.sub(r"<[^>]+>", "", course.feedback("empty")))
    assert [line for line in secret if len(line.strip()) > 12 and line.strip() in shown] == []
    configured = MarkSubmission(config=course_directory(course.directory).config)
    assert configured.secret not in shown
    assert str(configured.seed_for("empty", UNIT)) not in shown


def test_every_class_has_a_secret_of_its_own_that_nobody_can_guess(course, tmp_path):
    course.run("gradaccum", "classroom", "init", str(tmp_path / "other"), "--units", "00")
    secrets = {course_directory(place).config.MarkSubmission.secret for place in (tmp_path / "other", course.directory)}
    assert len(secrets) == 2
    assert all(re.fullmatch(r"[0-9a-f]{64}", secret) for secret in secrets)


def test_the_command_gives_the_same_marks_on_other_problems(course):
    names = [student.name for student in CLASS] + [DUPLICATE, "hostile", "forged", "noisy"]
    files = [str(course.directory / "submitted" / name / UNIT / f"{UNIT}.ipynb") for name in names]
    said = course.run("gradaccum", "check", "--json", "--sandbox", *files).stdout
    marks = [{e["id"]: e["score"] for e in file["exercises"]} for file in json.loads(said)["files"]]
    assert marks == [course.grades(name) for name in names]


def test_the_exported_table_has_the_sums(course):
    with (course.directory / "grades.csv").open() as table:
        exported = {r["student_id"]: float(r["score"]) for r in csv.DictReader(table) if r["assignment"] == UNIT and r["score"]}
    expected = {student.name: float(sum(student.points)) for student in CLASS}
    assert {name: exported[name] for name in expected} == expected


def test_another_notebook_of_the_class_is_run_in_the_sandbox(course):
    assert course.grades("right", OWN) == {"check": 3}


def test_a_manual_grade_survives_marking_again(course):
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("train_epoch", UNIT, UNIT, "no-scale")
        grade.manual_score, grade.extra_credit = 4.5, 0.25
        gradebook.db.commit()
    course.run("nbgrader", "autograde", UNIT, "--student", "no-scale", "--force")
    with Gradebook(f"sqlite:///{course.directory}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("train_epoch", UNIT, UNIT, "no-scale")
        assert (grade.manual_score, grade.extra_credit, grade.auto_score) == (4.5, 0.25, 2)


def test_nothing_is_marked_without_bubblewrap_and_the_reason_is_given(course, tmp_path):
    course.submit("late", Student("late", ()).notebook(course))
    without = course.environment | {"PATH": str(tmp_path)}
    python = course.python("-m", "nbgrader", "autograde", UNIT, "--student", "late", environment=without)
    assert python.returncode != 0
    assert "bubblewrap is not installed" in python.stdout + python.stderr
    assert not (course.directory / "autograded" / "late").exists()
