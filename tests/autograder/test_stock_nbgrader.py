"""Plain nbgrader in a directory made by ``gradaccum classroom init``: release, validate, autograde, feedback, export."""

from __future__ import annotations

import copy
import csv
import html
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.exercise import exercises_of
from autograder.exercises.unit_04 import PUZZLE
from autograder.mistakes import mistake
from autograder.release import COURSE

pytestmark = pytest.mark.slow

UNITS = ("00_start_here", "03_accumulate", "04_training_loop")
UNIT = "04_training_loop"
MISTAKES = Path(__file__).parents[1] / "submissions" / UNIT / "mistakes"


class Course:
    """A class, and the commands an instructor gives in it, in an environment of its own."""

    def __init__(self, root: Path):
        self.root, self.directory = root, root / "class"
        bin_directory = Path(sys.executable).parent
        self.environment = {
            "PATH": f"{bin_directory}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(root / "home"),
            "JUPYTER_CONFIG_DIR": str(root / "config"),
            "JUPYTER_DATA_DIR": str(root / "data"),
            "JUPYTER_RUNTIME_DIR": str(root / "runtime"),
            "IPYTHONDIR": str(root / "ipython"),
            "OMP_NUM_THREADS": "1",
        }
        (root / "home").mkdir()
        self.run("gradaccum", "classroom", "init", str(self.directory), cwd=root)

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
        done = subprocess.run(
            command, cwd=cwd or self.directory, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done

    def notebook(self, step: str, unit: str) -> NotebookNode:
        return nbformat.read(self.directory / step / unit / f"{unit}.ipynb", as_version=4)

    def submit(self, student: str, notebook: NotebookNode, unit: str = UNIT) -> None:
        place = self.directory / "submitted" / student / unit
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{unit}.ipynb")

    def grades(self, student: str, unit: str = UNIT) -> dict[str, float | None]:
        """What the gradebook says of each exercise; None where a person has to look."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.directory}/gradebook.db") as gradebook:
            submission = gradebook.find_submission(unit, student)
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            return {grade.name: None if grade.needs_manual_grade else grade.auto_score for grade in grades}

    def feedback(self, student: str, unit: str = UNIT) -> str:
        return (self.directory / "feedback" / student / unit / f"{unit}.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """A class with all units released."""
    course = Course(tmp_path_factory.mktemp("course"))
    for unit in UNITS:
        course.run("nbgrader", "generate_assignment", unit)
    return course


@pytest.mark.parametrize("unit", UNITS)
def test_the_instructors_release_is_the_courses_notebook(course, unit):
    released = course.directory / "release" / unit / f"{unit}.ipynb"
    assert released.read_bytes() == (COURSE / f"{unit}.ipynb").read_bytes()


@pytest.mark.parametrize("unit", UNITS)
def test_validate_finds_nothing_wrong_with_the_solution(course, unit):
    said = course.run("nbgrader", "validate", f"source/{unit}/{unit}.ipynb").stdout
    assert "Success! Your notebook passes all the tests." in said


@pytest.mark.parametrize("unit", UNITS)
def test_validate_finds_every_graded_exercise_of_the_untouched_release_wanting(course, unit):
    said = course.run("nbgrader", "validate", f"release/{unit}/{unit}.ipynb").stdout
    graded = [exercise.id for exercise in exercises_of(unit) if exercise.graded]
    assert [name for name in graded if f"check({name})" in said] == graded
    assert ("VALIDATION FAILED" in said) == bool(graded)


@dataclass(frozen=True)
class Student:
    """What one student of the class hands in, told by its difference from the right notebook.

    Attributes:
        points: for ORDER's exercises; None where nbgrader leaves the decision to a person.
        written: code of exercise cells.
        unwritten: exercises left as they were released.
        deleted: ids of cells.
        said: a sentence that the feedback must hold.
    """

    name: str
    points: tuple[float | None, ...]
    written: dict[str, str] = field(default_factory=dict)
    unwritten: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    said: str = ""

    def notebook(self, course: Course) -> NotebookNode:
        notebook, source = course.notebook("release", UNIT), course.notebook("source", UNIT)
        solutions = {cell.id.removesuffix("-solution"): cell.source for cell in source.cells if cell.id.endswith("-solution")}
        for cell in notebook.cells:
            exercise = cell.id.removesuffix("-solution")
            if cell.id != exercise and exercise not in self.unwritten:
                cell.source = (solutions | self.written)[exercise]
        notebook.cells = [cell for cell in notebook.cells if cell.id not in self.deleted]
        return notebook


def mistaken(slug: str, points: float) -> Student:
    """A student whose train_epoch has one mistake."""
    source = (MISTAKES / f"{slug.replace('-', '_')}.py").read_text(encoding="utf-8")
    return Student(slug, (points, 1, 1, 1, 1), {"train_epoch": source}, said=mistake(slug).message)


ORDER = ("train_epoch", "repaired_early_clear", "repaired_eager_step", "repaired_lost_tail", "name_that_loop")
NEVER_ENDS = """\
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    while True:
        optimizer.zero_grad()
"""
NO_PYTHON = "def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps)\n    pass\n"
HALF_THE_PUZZLE = f"def name_that_loop():\n    return {dict(list(PUZZLE.items())[:3])}\n"

CLASS = (
    Student("right", (6, 1, 1, 1, 1), said="train_epoch: 6 of 6 points, right"),
    mistaken("no-scale", 2),
    mistaken("never-zero", 1),
    mistaken("zero-every", 2),
    mistaken("step-every", 1),
    mistaken("tail-stale", 4),
    mistaken("mean-of-means", 5),
    Student(
        "half-done",
        (0, 1, 1, 0, 0.5),
        written={"name_that_loop": HALF_THE_PUZZLE},
        unwritten=("train_epoch", "repaired_lost_tail"),
        said="Look again at D and E and F.",
    ),
    Student("empty", (0, 0, 0, 0, 0), unwritten=ORDER, said="train_epoch: 0 of 6 points, not written yet"),
    Student("syntax-error", (6, 1, 0, 1, 1), written={"repaired_eager_step": NO_PYTHON}, said="SyntaxError"),
    Student("endless-loop", (0, 1, 1, 1, 1), written={"train_epoch": NEVER_ENDS}, said="still running after 10 seconds"),
    Student("deleted-cells", (0, 1, 1, 1, None), deleted=("train_epoch-solution", "name_that_loop"), said="NameError"),
)


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


def test_the_exported_table_has_everybody_with_the_sum(marked):
    with (marked.directory / "grades.csv").open() as table:
        exported = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(table)}
    assert exported == {student.name: (sum(p or 0 for p in student.points), 10) for student in CLASS}


def test_feedback_shows_no_solution(marked):
    given = {line for cell in marked.notebook("release", UNIT).cells for line in cell.source.split("\n")}
    source = marked.notebook("source", UNIT)
    secret = {line for cell in source.cells if cell.id.endswith("-solution") for line in cell.source.split("\n")} - given
    shown = html.unescape(re.sub(r"<[^>]+>", "", marked.feedback("empty")))
    assert [line for line in secret if len(line.strip()) > 12 and line.strip() in shown] == []


@pytest.mark.parametrize("unit", ["00_start_here", "03_accumulate"])
def test_the_other_units_go_through_as_well(course, unit):
    course.submit("right", course.notebook("source", unit), unit)
    course.submit("empty", course.notebook("release", unit), unit)
    course.run("nbgrader", "autograde", unit)
    course.run("nbgrader", "generate_feedback", unit)
    graded = [exercise for exercise in exercises_of(unit) if exercise.graded]
    assert course.grades("right", unit) == {exercise.id: exercise.max_score for exercise in graded}
    assert course.grades("empty", unit) == {exercise.id: 0 for exercise in graded}
    assert f"{exercises_of(unit)[0].id}: " in course.feedback("right", unit)


def test_cells_that_a_student_split_cost_nothing(course):
    notebook = Student("split", ()).notebook(course)
    place = next(k for k, cell in enumerate(notebook.cells) if cell.id == "train_epoch-solution")
    first_half = copy.deepcopy(notebook.cells[place])
    first_half.update(id="first-half", source="import itertools")
    notebook.cells.insert(place, first_half)
    course.submit("split", notebook)
    course.run("nbgrader", "autograde", UNIT, "--student", "split")
    assert course.grades("split") == dict(zip(ORDER, (6, 1, 1, 1, 1), strict=True))


def test_a_cell_that_never_ends_is_interrupted_and_the_rest_is_marked(course):
    notebook = Student("stuck", ()).notebook(course)
    notebook.cells.insert(3, nbformat.v4.new_code_cell("while True:\n    pass"))
    course.submit("stuck", notebook)
    course.run("nbgrader", "autograde", UNIT, "--student", "stuck", "--Execute.timeout=20")
    assert course.grades("stuck") == dict(zip(ORDER, (6, 1, 1, 1, 1), strict=True))
