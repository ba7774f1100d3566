"""What ``check`` shows below the verdict once an exercise has all its points: the student's fingerprint and model answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.contract.exercise import Exercise
from autograder.exercises import pictures_of
from autograder.publishing.model_answers import ModelAnswer, model_answers
from autograder.showing.answers_html import answers_html, answers_text
from gradaccum.theme import paragraph

if TYPE_CHECKING:
    from gradaccum.notebook.showing import Picture


@dataclass(frozen=True)
class AfterRight:
    """The fingerprint of a right loop that a student wrote, and two model answers.

    Attributes:
        answers: the model answers.
        picture: the fingerprint; None if the exercise asks for no training loop.
        failure: why the fingerprint could not be drawn; empty if it could.
    """

    answers: tuple[ModelAnswer, ...]
    picture: Picture | None = None
    failure: str = ""

    def __repr__(self) -> str:
        words = [str(self.picture)] if self.picture else []
        return "\n\n".join([*words, answers_text((answer.shows, answer.source) for answer in self.answers)])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        drawn = self.picture._repr_mimebundle_()["text/html"] if self.picture else ""
        html = answers_html(((answer.shows, answer.source) for answer in self.answers), drawn or paragraph(self.failure))
        return {"text/html": html, "text/plain": repr(self)}


def after_right(exercise: Exercise, function: Callable) -> AfterRight:
    """What to show of an exercise to the author of a right function."""
    answers, draw = model_answers(exercise), pictures_of(exercise.unit).get(exercise.id)
    if draw is None:
        return AfterRight(answers)
    try:
        return AfterRight(answers, draw(function))
    except Exception as error:  # the function is right on what it was marked on; nothing is promised about this problem
        return AfterRight(answers, failure=f"Its fingerprint could not be drawn: {type(error).__name__}: {str(error)[:200]}")


def show_after_cell(exercise: Exercise, function: Callable) -> None:
    """Show it below the verdict when the cell that is running has ended, so that the verdict need not wait for it.

    Nothing is shown where no one sees it: outside of IPython, and where nbgrader runs the notebook.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or "NBGRADER_EXECUTION" in os.environ:
        return

    def show(*_: object) -> None:
        from IPython.display import display

        shell.events.unregister("post_run_cell", show)
        display(after_right(exercise, function))

    shell.events.register("post_run_cell", show)
