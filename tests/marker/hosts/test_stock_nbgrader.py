"""nbgrader with nothing of ours but the notebooks: release, validate, autograde, feedback, export."""

from __future__ import annotations

import csv
import html
import re

import pytest
from nbgrader_class import HALF_THE_PUZZLE, NO_PYTHON, ORDER, UNIT, Course, Student, mistaken

from autograder.exercises import exercises_of
from autograder.publishing.release import FOR_THE_MARKER
from gradaccum.diagnosis.catalogue import mistake

pytestmark = pytest.mark.slow

UNITS = ("00_start_here", "03_accumulate", "04_training_loop")
VALIDATED = ("04_training_loop",)
"""Unit 00 has nothing that is graded; unit 03's solution and release are run and graded by the same means in the last test."""

CONFIG = """
c = get_config()
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.Execute.timeout = 240
c.WidgetsDataTypeFilter.display_data_priority = ["text/html", "image/png", "text/plain"]
"""
"""What an instructor who wants plain nbgrader has to say to it."""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """A class with all units released."""
    course = Course(tmp_path_factory.mktemp("course"))
    (course.directory / "nbgrader_config.py").write_text(CONFIG)
    for unit in UNITS:
        course.run("nbgrader", "generate_assignment", unit)
    return course


@pytest.mark.parametrize("unit", UNITS)
def test_the_instructors_release_is_the_marker_s_copy(course, unit):
    released = course.directory / "release" / unit / f"{unit}.ipynb"
    assert released.read_bytes() == (FOR_THE_MARKER / f"{unit}.ipynb").read_bytes()


@pytest.mark.parametrize("unit", VALIDATED)
def test_validate_finds_nothing_wrong_with_the_solution(course, unit):
    said = course.run("nbgrader", "validate", f"source/{unit}/{unit}.ipynb").stdout
    assert "Success! Your notebook passes all the tests." in said


@pytest.mark.parametrize("unit", VALIDATED)
def test_validate_reports_every_graded_exercise_of_the_untouched_release(course, unit):
    said = course.run("nbgrader", "validate", f"release/{unit}/{unit}.ipynb").stdout
    graded = [exercise.id for exercise in exercises_of(unit) if exercise.graded]
    assert [name for name in graded if f"check({name})" in said] == graded
    assert ("VALIDATION FAILED" in said) == bool(graded)


CLASS = (
    Student("right", (6, 1, 1, 1, 1), said="train_epoch: 6 of 6 points, right", pictures=True),
    Student(
        "half-done",
        (2, 1, 1, 0, 0.5),
        written=mistaken("no-scale", 2).written | {"name_that_loop": HALF_THE_PUZZLE},
        unwritten=("repaired_lost_tail",),
        said=mistake("no-scale").message,
    ),
    Student("empty", (0, 0, 0, 0, 0), unwritten=ORDER, said="train_epoch: 0 of 6 points, not written yet"),
    Student(
        "damaged",
        (0, 1, 0, 1, None),
        written={"repaired_eager_step": NO_PYTHON},
        deleted=("train_epoch-solution", "name_that_loop"),
        said="SyntaxError",
    ),
)
"""What nbgrader alone can mark; what it cannot is in ``test_nbgrader_plugins.py``."""


@pytest.fixture(scope="module")
def marked(course) -> Course:
    """One run of autograde, generate_feedback and export for the whole class."""
    for student in CLASS:
        course.submit(student.name, student.notebook(course))
    course.run("nbgrader", "autograde", UNIT)
    course.run("nbgrader", "generate_feedback", UNIT)
    course.run("nbgrader", "export")
    return course


@pytest.mark.parametrize("student", CLASS, ids=lambda student: student.name)
def test_the_gradebook_has_the_points(marked, student):
    assert marked.grades(student.name) == dict(zip(ORDER, student.points, strict=True))


@pytest.mark.parametrize("student", CLASS, ids=lambda student: student.name)
def test_the_feedback_says_why(marked, student):
    assert student.said in html.unescape(marked.feedback(student.name))


def test_explorables_are_pictures_in_feedback(marked):
    page = marked.feedback("right")
    assert re.search(r'<img[^>]* alt="Moment \d+', page)
    assert "widget-view+json" not in page


def test_the_exported_table_has_every_student_with_the_sum(marked):
    with (marked.directory / "grades.csv").open() as table:
        exported = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(table)}
    assert exported == {student.name: (sum(p or 0 for p in student.points), 10) for student in CLASS}


def test_feedback_shows_no_solution(marked):
    given = {line for cell in marked.notebook("release", UNIT).cells for line in cell.source.split("\n")}
    source = marked.notebook("source", UNIT)
    secret = {line for cell in source.cells if cell.id.endswith("-solution") for line in cell.source.split("\n")} - given
    shown = html.unescape(re.sub(r"<[^>]+>", "", marked.feedback("empty")))
    assert [line for line in secret if len(line.strip()) > 12 and line.strip() in shown] == []


def test_stock_nbgrader_marks_another_unit_as_well(course):
    unit = "03_accumulate"
    course.submit("right", course.notebook("source", unit), unit)
    course.run("nbgrader", "autograde", unit)
    assert course.grades("right", unit) == {exercise.id: exercise.max_score for exercise in exercises_of(unit)}
