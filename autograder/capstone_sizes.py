"""Picking a micro-batch size: the largest that fits a budget, and what wrong ways to pick come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autograder.call_trials import RAISES, CallTrial
from autograder.capstone_trials import bytes_needed
from autograder.exercise import Observation
from autograder.mistakes import add_mistake
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


add_mistake(
    "measured-on-the-first",
    "You measured a micro-batch of ordinary lines. One with the longest lines needs more, and it will come.",
    "How long is a micro-batch after padding? Which lines decide that, and how many bytes does it need in the worst case?",
)
add_mistake(
    "micro-batch-no-divisor",
    "The size fits, but it does not divide the window: the effective batch would not be the one asked for.",
    "How many micro-batches of this size make one window?",
)
add_mistake(
    "only-halves",
    "You try the window, its half, a quarter and so on; between them there may be a larger one that fits.",
    "Which sizes divide the window? Powers of two are not the only ones.",
)
add_mistake(
    "own-size-as-limit",
    "You look no further than config.micro_batch_size, which is only what the config happens to say.",
    "Which is the largest size that could divide the window?",
)
add_mistake(
    "steps-for-lines",
    "You return how many micro-batches make a window, not how many lines a micro-batch has.",
    "Is what you return B or N?",
)
add_mistake(
    "micro-batch-smallest",
    "One line at a time always fits, and leaves most of the budget, and of the device, unused.",
    "Which is the largest size that fits?",
)
add_mistake(
    "micro-batch-whole-window",
    "The whole window is one micro-batch: it was not measured against the budget.",
    "How many bytes does such a micro-batch need, and how many are allowed?",
)
