"""Picking a micro-batch size: the largest that fits a budget, and what wrong functions pick."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.judging.references import bytes_needed
from autograder.judging.calls import RAISES
from autograder.observing.calls import CallTrial
from gradaccum.capstone.budget import activation_bytes
from gradaccum.capstone.config import Config
from gradaccum.diagnosis.search import each_alone, first_match


def size_message(trial: CallTrial, value: object) -> str:
    """What is wrong with a wrong size, without saying which one is right."""
    (config,) = trial.arguments
    if type(value) is not int:
        several = "a list or tuple" if isinstance(value, list) else "a dictionary"
        return f"You return {several if isinstance(value, list | dict) else str(value)[:20]}, where an integer is due."
    if not 0 < value <= config.effective_batch:
        return "What you return is no number of lines between 1 and the window's."
    if config.effective_batch % value:
        return "The size you return does not divide the window."
    if (needed := bytes_needed(config, value)) > config.budget:
        return f"The size you return, {value}, needs {needed:,} bytes in the worst case, and the budget is {config.budget:,}."
    return f"A larger size than the one you return, {value}, divides the window and fits."


def in_integers(seen: Observation) -> Observation:
    """An observation in which a number that is not an integer stands as a text, for no formula returns one."""
    value = seen.facts.get("value")
    return Observation(facts={"value": repr(value)}) if isinstance(value, float) else seen


def size_mistakes(trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> tuple[str, ...]:
    """The mistake of a function that answers as the student's did wherever a size fits; none if no known one does."""
    return _first_match(WRONG_SIZES, trials, observations)


def size_in_words(trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> str:
    """What a function does that answers as the student's did wherever a size fits, as a sentence; empty if nothing known."""
    return next(iter(_first_match(SIZES_IN_WORDS, trials, observations)), "")


def _first_match(
    formulas: Mapping[str, tuple[Callable[[Config], object], ...]],
    trials: Mapping[str, CallTrial],
    observations: Mapping[str, Observation],
) -> tuple[str, ...]:
    seen = {name: one for name, one in observations.items() if name != "refuse"}
    if any(one.failure for one in seen.values()):
        return ()
    found = {name: ("raised" in one.facts, one.facts.get("value")) for name, one in seen.items()}
    match = first_match(
        each_alone(formulas), found, lambda formula, name: _answer(formula(*trials[name].arguments)), operator.eq
    )
    return match.mistakes if match else ()


def _answer(value: object) -> tuple[bool, object]:
    return (True, None) if value is RAISES else (False, value)


def side_in_words(trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> str:
    """On which side all wrong sizes are, in words; empty if they are on both, or something else than a size was returned."""
    sides: set[str] = set()
    for name, trial in trials.items():
        due, found, refused = (
            largest(*trial.arguments),
            observations[name].facts.get("value"),
            "raised" in observations[name].facts,
        )
        if refused:
            sides |= set() if due is RAISES else {TOO_SMALL}
        elif observations[name].failure or not isinstance(found, int):
            return ""
        elif found != due:
            sides.add(TOO_LARGE if not isinstance(due, int) or found > due else TOO_SMALL)
    return sides.pop() if len(sides) == 1 else ""


ASKED = "Which sizes are allowed, and with which model, lines and budget do you measure?"
TOO_LARGE = f"In each check that you fail, your size is too large. {ASKED}"
TOO_SMALL = f"In each check that you fail, your size is too small, or a ValueError is raised although a size fits. {ASKED}"


def divisors(window: int) -> list[int]:
    """All sizes that divide a window, the largest first."""
    return [size for size in range(window, 0, -1) if window % size == 0]


def _with_rounded_steps(config: Config) -> object:
    """A window divided by how often it holds the largest number of lines that fits, divisor or not, both rounded down."""
    lines = largest(config, sizes=range(config.effective_batch, 0, -1))
    return config.effective_batch // (config.effective_batch // lines) if isinstance(lines, int) else lines


def _before_the_first_gap(window: int) -> list[int]:
    """1, 2, 3 and so on, as long as they divide a window; the largest first."""
    dividing = itertools.takewhile(lambda size: window % size == 0, itertools.count(1))
    return list(dividing)[::-1]


def _halves(window: int) -> list[int]:
    return [window, *(_halves(window // 2) if window % 2 == 0 else [])]


def _rounded_halves(window: int) -> list[int]:
    return [window >> k for k in range(window.bit_length())]


def _powers_of_two(window: int) -> list[int]:
    return [2**k for k in reversed(range(window.bit_length()))]


def largest(config: Config, need: Callable[[int], int] | None = None, sizes: Iterable[int] | None = None) -> object:
    """The first of some sizes, by default the divisors, that fits the budget; :data:`RAISES` if none does.

    Args:
        config: with the budget.
        need: bytes that a micro-batch of a size needs; by default what the longest one needs.
        sizes: to try, the largest first.
    """
    need = need or (lambda size: bytes_needed(config, size))
    fitting = (size for size in sizes or divisors(config.effective_batch) if need(size) <= config.budget)
    return next(fitting, RAISES)


def _first_bytes(config: Config, size: int) -> int:
    """Bytes that the first micro-batch of an epoch needs."""
    return activation_bytes(config.build_model(), *next(config.with_(micro_batch_size=size).micro_batches(0)))


def _steps(config: Config) -> object:
    size = largest(config)
    assert isinstance(size, int)  # wrong functions are only asked where a size fits
    return config.effective_batch // size


WRONG_SIZES: dict[str, tuple[Callable[[Config], object], ...]] = {
    "micro-batch-over-budget": (lambda c: largest(c, lambda size: _first_bytes(c, size)),),
    "micro-batch-no-divisor": (
        lambda c: largest(c, sizes=range(c.effective_batch, 0, -1)),
        lambda c: largest(c, sizes=_rounded_halves(c.effective_batch)),
        lambda c: largest(c, sizes=_powers_of_two(c.effective_batch)),
    ),
    "budget-not-used-up": (lambda c: largest(c, lambda size: bytes_needed(c, size) + 1),),
    "only-halves": (
        lambda c: largest(c, sizes=_halves(c.effective_batch)),
        lambda c: largest(c, sizes=[s for s in _rounded_halves(c.effective_batch) if not c.effective_batch % s]),
    ),
    "powers-of-two-only": (
        lambda c: largest(c, sizes=[s for s in _powers_of_two(c.effective_batch) if not c.effective_batch % s]),
    ),
    "own-size-as-limit": (lambda c: largest(c, sizes=[s for s in divisors(c.effective_batch) if s <= c.micro_batch_size]),),
    "micro-batch-smallest": (lambda c: 1,),
    "micro-batch-whole-window": (lambda c: c.effective_batch,),
    "steps-for-lines": (_steps,),
}
"""For each mistake what a function that makes it picks where a size fits."""


def _with_reserve(share: float) -> Callable[[Config], object]:
    return lambda c: largest(c, lambda size: math.ceil(bytes_needed(c, size) / (1 - share)))


def _parameter_bytes(config: Config) -> int:
    return sum(p.numel() * p.element_size() for p in config.build_model().parameters())


def _next_larger(config: Config) -> object:
    """The divisor above the one that fits."""
    sizes, size = divisors(config.effective_batch), largest(config)
    return sizes[max(0, sizes.index(size) - 1)] if isinstance(size, int) else RAISES


def _or_nothing(config: Config) -> object:
    """The largest size that fits, if it divides the window."""
    size = largest(config, sizes=range(config.effective_batch, 0, -1))
    return size if isinstance(size, int) and config.effective_batch % size == 0 else RAISES


def _or_refused(config: Config) -> object:
    return largest(config) if bytes_needed(config, config.micro_batch_size) <= config.budget else RAISES


def _common_divisor(config: Config) -> object:
    size = largest(config, sizes=range(config.effective_batch, 0, -1))
    return math.gcd(size, config.effective_batch) if isinstance(size, int) else RAISES


def _on_a_line(config: Config, size: int) -> int:
    """The bytes of a size on the straight line through those of one line and of two."""
    one, two = bytes_needed(config, 1), bytes_needed(config, 2)
    return one + (size - 1) * (two - one)


def _bytes_in_epoch(config: Config, size: int) -> int:
    """The most bytes that a micro-batch of the first epoch needs."""
    model, stream = config.build_model(), config.with_(micro_batch_size=size).micro_batches(0)
    return max(activation_bytes(model, *pair) for pair in stream)


SIZES_IN_WORDS: dict[str, tuple[Callable[[Config], object], ...]] = {
    "You never choose a micro-batch of a single line.": (lambda c: largest(c, sizes=divisors(c.effective_batch)[:-1]),),
    "You never choose the whole window as one micro-batch.": (lambda c: largest(c, sizes=divisors(c.effective_batch)[1:]),),
    "Your sizes are those of one or two lines measured and multiplied, although several lines need less than that.": (
        lambda c: largest(c, lambda size: size * bytes_needed(c, 1)),
    ),
    "You leave a part of the budget unused, as if you kept a reserve, or counted something else, too, such as the weights.": (
        *map(_with_reserve, (0.01, 0.02, 0.05, 0.1, 0.2)),
        lambda c: largest(c, lambda size: bytes_needed(c, size) + _parameter_bytes(c)),
    ),
    "You return the size above the largest that fits.": (_next_larger,),
    "You take what needs up to twice the budget.": (lambda c: largest(c, lambda size: bytes_needed(c, size) // 2),),
    "You raise an error where config.micro_batch_size does not fit, although a smaller size may.": (_or_refused,),
    "You take the greatest common divisor of the window and the lines there is room for, although a larger divisor may fit.": (
        _common_divisor,
    ),
    "Your sizes are a little off, as if you computed the bytes of a size from those of others instead of measuring it.": (
        lambda c: largest(c, lambda size: _on_a_line(c, size)),
    ),
    "Your size may be more than fits, as if you went up to the next divisor or rounded the number of micro-batches down.": (
        _with_rounded_steps,
    ),
    "Your sizes are those of micro-batches as an epoch has them, in which the longest lines need not come together.": (
        lambda c: largest(c, lambda size: _bytes_in_epoch(c, size)),
    ),
    "You try the sizes that divide 48 lines, whatever the window holds.": (lambda c: largest(c, sizes=divisors(48)),),
    "You stop at the first number of lines that does not divide the window, although a larger one may.": (
        lambda c: largest(c, sizes=_before_the_first_gap(c.effective_batch)),
    ),
    "Your size may need more than the budget, as if bytes were rounded to MiB before they are compared with it.": (
        lambda c: largest(c, lambda size: max(0, bytes_needed(c, size) - -(-c.budget // 2**20) * 2**20 + c.budget)),
        lambda c: largest(c, lambda size: c.budget + round(bytes_needed(c, size) / 2**20) - round(c.budget / 2**20)),
        lambda c: largest(c, lambda size: c.budget + bytes_needed(c, size) // 2**20 - c.budget // 2**20),
        lambda c: largest(c, lambda size: c.budget + round(10 * bytes_needed(c, size) / 2**20) - round(10 * c.budget / 2**20)),
    ),
    "You refuse where the whole window does not fit, although a smaller size may.": (
        lambda c: largest(c, sizes=[c.effective_batch]),
    ),
    "You refuse where the largest size that fits does not divide the window, although a smaller one may.": (_or_nothing,),
}
"""The same for rarer functions, by what they do."""
