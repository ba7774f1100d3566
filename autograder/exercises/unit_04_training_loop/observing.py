"""Observing training loops, and the answers to the puzzle."""

from __future__ import annotations

from collections.abc import Callable

from autograder.contract.observation import Observation
from autograder.observing.loops import observe_loop


def observe_answers(function: Callable, trial: None) -> Observation:
    """Call the function. Returns its dictionary of short texts as ``answers``, or else the ``type`` of what it returned."""
    answers = function()
    if not isinstance(answers, dict):
        return Observation(facts={"type": type(answers).__name__})
    return Observation(facts={"answers": {_text(k)[:8]: _text(v)[:40] for k, v in list(answers.items())[:20]}})


def _text(value: object) -> str:
    """A text as it is, also that of an enumeration; anything else as Python prints it."""
    return str.__str__(value) if isinstance(value, str) else str(value)


OBSERVERS = {
    "train_epoch": observe_loop,
    "repaired_early_clear": observe_loop,
    "repaired_eager_step": observe_loop,
    "repaired_lost_tail": observe_loop,
    "name_that_loop": observe_answers,
}
