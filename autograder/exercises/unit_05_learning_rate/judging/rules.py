"""The effective batch size and the learning rate that are due, and what comes of wrong formulas for them."""

from __future__ import annotations

import math
from collections.abc import Callable

from autograder.contract.observation import Observation
from autograder.judging.calls import RAISES, Formula, in_different_words, with_fixed, with_rounding
from autograder.observing.calls import CallTrial, Plain


def refuse_float(seen: Observation) -> Observation:
    """An int was asked for: a whole number that is a float becomes a value of the wrong type."""
    value = seen.facts.get("value")
    return Observation(facts={"type": "float"}) if isinstance(value, float) and value.is_integer() else seen


def given_and_due(name: str, formula: Formula) -> Callable[[CallTrial, Plain | None], str]:
    """A function that says of a call and its value what the call gives and what is due."""

    def message(trial: CallTrial, found: Plain | None) -> str:
        arguments = [*map(repr, trial.arguments), *(f"{key}={value!r}" for key, value in trial.keywords.items())]
        due = formula(*trial.arguments, **trial.keywords)
        gives, wanted = in_different_words(found, due)
        return f"{name}({', '.join(arguments)}) gives {gives}, where {wanted} is due."

    return message


def effective_batch_size(micro_batch_size: object, accumulation_steps: object, world_size: object = 1) -> int | object:
    """Samples that reach one update; :data:`~autograder.judging.calls.RAISES` unless all three are positive ints."""
    product = 1
    for value in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            return RAISES
        product *= value
    return product


_PUBLISHED = (1024, 2048, 4096)
"""The sizes of the published table."""

WRONG_SIZES: dict[str, Formula | tuple[Formula, ...]] = {
    "forgets-world-size": lambda b, n, world_size=1: b * n,
    "adds-sizes": (lambda b, n, world_size=1: b + n + world_size, lambda b, n, world_size=1: b * n + world_size),
}
"""By mistake, the formula that makes it."""


SIZES_IN_WORDS: dict[str, Formula | tuple[Formula, ...]] = {
    "You add the number of devices less 1, where the number of devices is a factor.": lambda b, n, world_size=1: (
        b * n + world_size - 1
    ),
    "You add the number of devices to N, or that number less 1, where it is a factor.": (
        lambda b, n, world_size=1: b * (n + world_size - 1),
        lambda b, n, world_size=1: b * (n + world_size),
    ),
    "You divide by the number of devices, instead of multiplying by it.": lambda b, n, world_size=1: b * n // world_size,
    "Without a world size you assume more than one device.": tuple(
        lambda b, n, world_size=default: b * n * world_size for default in (2, 4, 8)
    ),
    "The published sizes are right, but for other arguments you return one of these sizes.": tuple(
        lambda b, n, world_size=1, other=other: size if (size := b * n * world_size) in _PUBLISHED else other
        for other in _PUBLISHED
    ),
    "The published sizes are right, but with others you leave the world size out.": lambda b, n, world_size=1: (
        b * n * world_size if b * n * world_size in _PUBLISHED else b * n
    ),
    "A world size that is given by name is left out.": lambda b, n, ranks=1, world_size=1: b * n * ranks,
}
"""Rarer sizes, by what makes them."""


def scaled_rate(lr: float, reference_batch: int, batch: int, rule: str) -> float | object:
    """The learning rate for a batch by a rule; :data:`~autograder.judging.calls.RAISES` for an unknown rule."""
    ratio = batch / reference_batch
    factors = {"none": 1.0, "linear": ratio, "sqrt": math.sqrt(ratio)}
    return lr * factors[rule] if rule in factors else RAISES


def _swapped_rules(lr: float, reference_batch: int, batch: int, rule: str) -> float | object:
    other = {"linear": "sqrt", "sqrt": "linear"}.get(rule, rule)
    return scaled_rate(lr, reference_batch, batch, other)


WRONG_RATES: dict[str, Formula | tuple[Formula, ...]] = {
    "ratio-inverted": lambda lr, a, b, rule: scaled_rate(lr, b, a, rule),
    "rules-swapped": _swapped_rules,
    "rate-not-scaled": lambda lr, a, b, rule: lr if rule in ("none", "linear", "sqrt") else RAISES,
    "whole-ratios": lambda lr, a, b, rule: scaled_rate(lr, 1, b // a, rule),
    "fixed-number": (
        *with_fixed(scaled_rate, 0, (1.0, 0.1, 0.01, 0.001)),
        *with_fixed(scaled_rate, 1, (1, 32, 64, 128, 256, 512)),
    ),
    "rounded": with_rounding(scaled_rate),
}
"""By mistake, the formula that makes it."""


def _by_ratio(**factors: Callable[[float], float]) -> Formula:
    """The formula of rates with other factors for some of the rules, of the ratio of the two batches."""

    def rate(lr: float, reference_batch: int, batch: int, rule: str) -> float | object:
        return lr * factors[rule](batch / reference_batch) if rule in factors else scaled_rate(lr, reference_batch, batch, rule)

    return rate


def _with_root(root: Callable[[float, int, int], float]) -> Formula:
    """The formula of rates with another one for the rule sqrt."""

    def rate(lr: float, reference_batch: int, batch: int, rule: str) -> float | object:
        return root(lr, reference_batch, batch) if rule == "sqrt" else scaled_rate(lr, reference_batch, batch, rule)

    return rate


def _bounded_linear(most: float) -> Formula:
    return _by_ratio(linear=lambda r: min(r, most))


def _bounded_ratio(most: float) -> Formula:
    return _by_ratio(linear=lambda r: min(r, most), sqrt=lambda r: math.sqrt(min(r, most)))


def _bounded(most: float) -> Formula:
    return _by_ratio(linear=lambda r: min(r, most), sqrt=lambda r: min(math.sqrt(r), most))


RATES_IN_WORDS: dict[str, Formula | tuple[Formula, ...]] = {
    "The rule sqrt lowers the rate when the batch grows: its ratio is upside down.": _by_ratio(sqrt=lambda r: r**-0.5),
    "The rule linear lowers the rate when the batch grows: its ratio is upside down.": _by_ratio(linear=lambda r: 1 / r),
    "The rule sqrt squares the ratio of the batches, where its root is due.": _by_ratio(sqrt=lambda r: r**2),
    "The rule sqrt halves the ratio of the batches, where its root is due.": _by_ratio(sqrt=lambda r: r / 2),
    "The rule sqrt takes a root of the ratio of the batches, but not the square root.": (
        _by_ratio(sqrt=lambda r: r ** (1 / 3)),
        _by_ratio(sqrt=lambda r: r**0.25),
    ),
    "The rule sqrt rounds its factor to a whole number.": (
        _by_ratio(sqrt=lambda r: math.isqrt(int(r))),
        _by_ratio(sqrt=lambda r: round(math.sqrt(r))),
    ),
    "The rule sqrt takes the root of a ratio that is rounded down to a whole number.": _by_ratio(
        sqrt=lambda r: math.sqrt(int(r))
    ),
    "The rule sqrt takes only the whole part of a root.": (
        _with_root(lambda lr, reference, batch: lr * math.isqrt(batch) / math.isqrt(reference)),
        _by_ratio(sqrt=lambda r: math.isqrt(int(r)) if r >= 1 else 1 / math.isqrt(int(1 / r))),
    ),
    "The rule sqrt takes a logarithm of the ratio of the batches, where its root is due.": (
        _by_ratio(sqrt=lambda r: 1 + math.log2(r) / 2),
        _by_ratio(sqrt=lambda r: 1 + math.log2(r)),
        _by_ratio(sqrt=math.log2),
    ),
    "The rule linear takes a logarithm of the ratio of the batches, where the ratio itself is due.": (
        _by_ratio(linear=lambda r: 1 + math.log2(r)),
        _by_ratio(linear=lambda r: 1 + math.log(r)),
        _by_ratio(linear=math.log2),
    ),
    "The rule sqrt leaves the reference batch out.": _with_root(lambda lr, reference, batch: lr * math.sqrt(batch)),
    "The rule sqrt takes the root of the new batch only, where the root of the ratio is due.": _with_root(
        lambda lr, reference, batch: lr * math.sqrt(batch) / reference
    ),
    "The rule sqrt takes the root of the reference batch only, where the root of the ratio is due.": _with_root(
        lambda lr, reference, batch: lr * batch / math.sqrt(reference)
    ),
    "The rule sqrt takes the root of the rate, too.": _with_root(
        lambda lr, reference, batch: math.sqrt(lr * batch / reference)
    ),
    "The rule sqrt uses 1 + (r - 1)/2 in place of the root of the ratio r.": _by_ratio(sqrt=lambda r: 1 + (r - 1) / 2),
    "You never lower the rate, although both rules lower it for a smaller batch.": _by_ratio(
        linear=lambda r: max(1.0, r), sqrt=lambda r: math.sqrt(max(1.0, r))
    ),
    "You never raise the rate, although both rules raise it for a larger batch.": _by_ratio(
        linear=lambda r: min(1.0, r), sqrt=lambda r: math.sqrt(min(1.0, r))
    ),
    "The rule sqrt scales linearly where the batch is smaller than the reference.": _by_ratio(
        sqrt=lambda r: r if r < 1 else math.sqrt(r)
    ),
    "You bound the factor by which the rate grows, which no rule does.": (
        *map(_bounded_linear, (4, 8, 10, 16, 32, 64)),
        *map(_bounded, (4, 8, 10, 16, 32, 64)),
        *map(_bounded_ratio, (4, 8, 10, 16, 32, 64)),
    ),
}
"""Rarer rates, by what makes them."""
