"""Picking a micro-batch size: the largest that fits a budget, and what wrong ways to pick come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.judging.references import bytes_needed
from autograder.judging.calls import RAISES
from autograder.observing.calls import CallTrial
from gradaccum.capstone.budget import activation_bytes
from gradaccum.capstone.config import Config


def size_message(trial: CallTrial, value: object) -> str:
    """What is wrong with a size, without saying which one is right."""
    (config,) = trial.arguments
    if type(value) is not int or not 0 < value <= config.effective_batch:
        return "What you return is no number of lines between 1 and the window's."
    if config.effective_batch % value:
        return "The size you return does not divide the window."
    if bytes_needed(config, value) > config.budget:
        return "The size you return needs more than the budget in the worst case."
    return "A larger size than the one you return divides the window and fits."


def explains(formula: Callable[[Config], object], trials, observations: Mapping[str, Observation]) -> bool:
    """Whether a function that picks by this formula answers as the student's did wherever a size fits."""
    seen = {name: one for name, one in observations.items() if name != "refuse"}
    return all(
        not one.failure and ("raised" in one.facts, one.facts.get("value")) == _answer(formula(*trials[name].arguments))
        for name, one in seen.items()
    )


def _answer(value: object) -> tuple[bool, object]:
    return (True, None) if value is RAISES else (False, value)


def divisors(window: int) -> list[int]:
    """All sizes that divide a window, the largest first."""
    return [size for size in range(window, 0, -1) if window % size == 0]


def _halves(window: int) -> list[int]:
    return [window, *(_halves(window // 2) if window % 2 == 0 else [])]


def _rounded_halves(window: int) -> list[int]:
    return [window >> k for k in range(window.bit_length())]


def _powers_of_two(window: int) -> list[int]:
    return [2**k for k in reversed(range(window.bit_length()))]


def largest(config: Config, need=None, sizes=None):
    """The first of some sizes, by default the divisors, that fits the budget."""
    need = need or (lambda size: bytes_needed(config, size))
    fitting = (size for size in sizes or divisors(config.effective_batch) if need(size) <= config.budget)
    return next(fitting, RAISES)


def _first_bytes(config: Config, size: int) -> int:
    """What a micro-batch needs that is the first of an epoch."""
    return activation_bytes(config.build_model(), *next(config.with_(micro_batch_size=size).micro_batches(0)))


WRONG_SIZES: tuple[tuple[str, Callable[[Config], object]], ...] = (
    ("measured-on-the-first", lambda c: largest(c, lambda size: _first_bytes(c, size))),
    ("micro-batch-no-divisor", lambda c: largest(c, sizes=range(c.effective_batch, 0, -1))),
    ("budget-not-used-up", lambda c: largest(c, lambda size: bytes_needed(c, size) + 1)),
    ("only-halves", lambda c: largest(c, sizes=_halves(c.effective_batch))),
    ("only-halves", lambda c: largest(c, sizes=_rounded_halves(c.effective_batch))),
    ("powers-of-two-only", lambda c: largest(c, sizes=_powers_of_two(c.effective_batch))),
    (
        "powers-of-two-only",
        lambda c: largest(c, sizes=[s for s in _powers_of_two(c.effective_batch) if not c.effective_batch % s]),
    ),
    ("own-size-as-limit", lambda c: largest(c, sizes=[s for s in divisors(c.effective_batch) if s <= c.micro_batch_size])),
    ("micro-batch-smallest", lambda c: 1),
    ("micro-batch-whole-window", lambda c: c.effective_batch),
    ("steps-for-lines", lambda c: c.effective_batch // largest(c)),
)
"""What a function with a mistake picks where a size fits."""
