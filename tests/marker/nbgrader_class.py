"""A class that an instructor runs with nbgrader's own commands, and the students who hand in."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from warm_python import warm_kernels, warm_python

from autograder.exercises.unit_04_training_loop.exercises import PUZZLE
from gradaccum.diagnosis.catalogue import mistake

UNIT = "04_training_loop"
MISTAKES = Path(__file__).parents[1] / "submissions" / UNIT / "mistakes"


class Course:
    """A class, and commands of an instructor in it, in an isolated environment."""

    def __init__(self, root: Path, *options: str):
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
            **warm_kernels(root / "warm"),
        }
        (root / "home").mkdir()
        self.run("gradaccum", "classroom", "init", str(self.directory), *options, cwd=root)

    def run(self, program: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
        """Run a program of this Python."""
        script = str(Path(sys.executable).with_name(program))
        done = self.python(script, *arguments, environment=self.environment, cwd=cwd)
        assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done

    def python(self, *arguments: str, environment: dict[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess:
        """Run Python in an environment in which something may be missing."""
        command, folder = [*warm_python(), *arguments], cwd or self.directory
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)

    def notebook(self, step: str, unit: str) -> NotebookNode:
        return nbformat.read(self.directory / step / unit / f"{unit}.ipynb", as_version=4)

    def submit(self, student: str, notebook: NotebookNode, unit: str = UNIT) -> None:
        place = self.directory / "submitted" / student / unit
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{unit}.ipynb")

    def grades(self, student: str, unit: str = UNIT) -> dict[str, float | None]:
        """The points of each exercise in the gradebook; None where a person has to grade."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.directory}/gradebook.db") as gradebook:
            submission = gradebook.find_submission(unit, student)
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            return {grade.name: None if grade.needs_manual_grade else grade.auto_score for grade in grades}

    def feedback(self, student: str, unit: str = UNIT) -> str:
        return (self.directory / "feedback" / student / unit / f"{unit}.html").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Student:
    """What one student of the class hands in, as differences from the correct notebook.

    Attributes:
        points: for the exercises in ORDER; None where nbgrader leaves the decision to a person.
        written: code of exercise cells.
        unwritten: exercises left as they were released.
        deleted: ids of cells.
        pictures: whether to keep the explorables and predictions, which take time and give no points.
        said: a sentence that must be in the feedback.
    """

    name: str
    points: tuple[float | None, ...]
    written: dict[str, str] = field(default_factory=dict)
    unwritten: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    pictures: bool = False
    said: str = ""

    def notebook(self, course: Course) -> NotebookNode:
        notebook, source = course.notebook("release", UNIT), course.notebook("source", UNIT)
        solutions = {cell.id.removesuffix("-solution"): cell.source for cell in source.cells if cell.id.endswith("-solution")}
        for cell in notebook.cells:
            exercise = cell.id.removesuffix("-solution")
            if cell.id != exercise and exercise not in self.unwritten:
                cell.source = (solutions | self.written)[exercise]
        notebook.cells = [cell for cell in notebook.cells if cell.id not in self.deleted and self._keeps(cell)]
        return notebook

    def _keeps(self, cell: NotebookNode) -> bool:
        return self.pictures or not cell.source.startswith(("explore(", "predict("))


def mistaken(slug: str, points: float) -> Student:
    """A student whose train_epoch has one mistake."""
    source = (MISTAKES / f"{slug.replace('-', '_')}.py").read_text(encoding="utf-8")
    return Student(slug, (points, 1, 1, 1, 1), {"train_epoch": source}, said=mistake(slug).message)


ORDER = ("train_epoch", "repaired_early_clear", "repaired_eager_step", "repaired_lost_tail", "name_that_loop")
NO_PYTHON = "def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps)\n    pass\n"
HALF_THE_PUZZLE = f"def name_that_loop():\n    return {dict(list(PUZZLE.items())[:3])}\n"
