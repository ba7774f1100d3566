"""What a training loop must leave as it found it, and what to say if it does not."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.contract.observation import Observation

MESSAGES = {
    "modes": "Your function left the model, or a part of it, in another mode (training or evaluation) than it found it in.",
    "requires_grad": "Your function changed which parameters are frozen (requires_grad).",
    "frozen": "A frozen parameter was changed.",
    "dtypes": "Your function changed the dtype of parameters or buffers.",
    "data": "Your function changed the micro-batches it was given.",
    "precision": "A forward of yours runs under autocast, in which a float32 model computes with fewer digits than its own.",
}
"""By what :attr:`gradaccum.recording.Recording.changed` calls it. The first that applies is said: thawed ones may move."""


MODEL = ("requires_grad", "frozen", "dtypes")
"""What concerns a model's parameters and buffers."""

OUTSIDE = {
    "parameters": "Parameters change outside of the step of the optimizer that you are given.",
    "state": "What the optimizer keeps between updates, such as its momentum, is changed outside of its step.",
}
"""What tells why updates are wrong, and is not wrong by itself."""

DATA = ("data",)
"""What concerns the micro-batches: once these have changed, the parameters after training differ as well."""


def kept_message(seen: Observation, kinds: Iterable[str] = tuple(MESSAGES)) -> str:
    """Which of these a loop changed; empty if none."""
    changed = seen.facts.get("changed", ())
    return next((MESSAGES[kind] for kind in kinds if kind in changed), "")


def outside_message(seen: Observation) -> str:
    """What a loop changed between its updates, in words; empty if nothing."""
    changed = seen.facts.get("changed", ())
    return next((message for kind, message in OUTSIDE.items() if kind in changed), "")


def left_message(changed: Iterable[str]) -> str:
    """That a function changed these things, given in words; empty if there are none."""
    listed = ", ".join(changed)
    return f"Your function changed what it should leave alone: {listed}." if listed else ""
