"""Two right answers to an exercise, for those who have all its points. No released notebook and no sandbox has them.

The first is the solution in the unit's script. The second, which differs in structure, is ``answers/ID.py`` in the unit's
folder under ``autograder/exercises``. The docstring of this file says in two paragraphs what the first answer shows, and what
the second.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import autograder.exercises
from autograder.contract.exercise import Exercise
from autograder.publishing.nbgrader_course import SOLUTIONS

_MARKER_LINES = re.compile(r"^ *### (BEGIN|END) SOLUTION\n", re.MULTILINE)


@dataclass(frozen=True)
class ModelAnswer:
    """A right answer: a sentence on what it shows, and its source."""

    shows: str
    source: str


def model_answers(exercise: Exercise) -> tuple[ModelAnswer, ModelAnswer]:
    """The solution, and an answer that differs from it in structure.

    Raises:
        OSError: one of them cannot be read.
        ValueError: one of them is not as the docstring of this module says.
    """
    script = (SOLUTIONS / f"{exercise.unit}.py").read_text(encoding="utf-8")
    cell = re.search(rf'^# %% exercise="{exercise.id}"\n(.*?)^# %%', script, re.MULTILINE | re.DOTALL)
    if cell is None:
        raise ValueError(f"the script of unit {exercise.unit} has no exercise {exercise.id!r}")
    file = Path(autograder.exercises.__file__).parent / f"unit_{exercise.unit}" / "answers" / f"{exercise.id}.py"
    text = file.read_text(encoding="utf-8")
    first, *other = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
    if len(other) != 1:
        raise ValueError(f"{file}: its docstring needs two paragraphs, on what the solution shows and what this answer shows")
    code = "".join(text.splitlines(keepends=True)[ast.parse(text).body[0].end_lineno :])
    return (
        ModelAnswer(" ".join(first.split()), _MARKER_LINES.sub("", cell[1]).strip()),
        ModelAnswer(" ".join(other[0].split()), code.strip()),
    )
