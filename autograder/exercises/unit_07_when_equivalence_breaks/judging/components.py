"""Comparing what a student says about the components of a training run with what the components do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from gradaccum.components import COMPONENTS, breaks

MISTAKEN = {
    "linear": "sound-layer-blamed",
    "batchnorm-training": "batchnorm-trusted",
    "batchnorm-eval": "sound-layer-blamed",
    "layernorm": "sound-layer-blamed",
    "groupnorm": "sound-layer-blamed",
    "momentum": "optimizer-blamed",
    "adamw": "optimizer-blamed",
    "weight-decay": "optimizer-blamed",
    "step-per-micro-batch": "many-updates-trusted",
    "clip-per-window": "window-clip-blamed",
    "clip-per-micro-batch": "micro-clip-trusted",
    "contrastive-loss": "contrastive-trusted",
}
"""By component, the mistake that a wrong answer is."""


def wrong_answers(group: str, answers: Mapping[str, object]) -> list[str]:
    """The components of a group for which the answer is missing or wrong."""
    keys = [key for key, component in COMPONENTS.items() if component.group == group]
    return [key for key in keys if not _agrees(answers.get(key), _breaks(key))]


TURNED_ROUND = "Each of your answers is the other way round: True stands for what breaks equivalence."


def turned_round(answers: Mapping[str, object]) -> bool:
    """Whether every answer is the opposite of the one that is due."""
    return all(_agrees(answers.get(key), not _breaks(key)) for key in COMPONENTS)


@cache
def _breaks(key: str) -> bool:
    """Whether a run with the component departs from the large batch: two short trainings, the same for every submission."""
    return breaks(COMPONENTS[key])


def is_answer(value: object) -> bool:
    """Whether a value says yes or no: True and False, or 1 and 0 in their place."""
    return isinstance(value, bool | int) and value in (0, 1)


def _agrees(answer: object, due: bool) -> bool:
    return is_answer(answer) and bool(answer) == due


def answer_message(key: str, answers: Mapping[str, object]) -> str:
    """What to say of a wrong answer for a component."""
    if key not in answers:
        return f"Your dictionary has no key {key!r}."
    if is_answer(answers[key]):
        return f"Look again at {key}."
    return f"What you say about {key} is neither True nor False."
