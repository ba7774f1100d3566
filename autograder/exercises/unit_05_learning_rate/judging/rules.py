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
        return f"{name}({', '.join(arguments)}) gives {gives}, due is {wanted}."

    return message


def effective_batch_size(micro_batch_size: object, accumulation_steps: object, world_size: object = 1) -> int | object:
    """Samples that reach one update; :data:`~autograder.judging.calls.RAISES` unless all three are positive ints."""
    product = 1
    for value in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            return RAISES
        product *= value
    return product


WRONG_SIZES: dict[str, Formula | tuple[Formula, ...]] = {
    "forgets-world-size": lambda b, n, world_size=1: b * n,
    "adds-sizes": (lambda b, n, world_size=1: b + n + world_size, lambda b, n, world_size=1: b * n + world_size),
}
"""By mistake, the formula that makes it."""


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
    "rate-unchanged": lambda lr, a, b, rule: lr if rule in ("none", "linear", "sqrt") else RAISES,
    "whole-ratios": lambda lr, a, b, rule: scaled_rate(lr, 1, b // a, rule),
    "fixed-number": (
        *with_fixed(scaled_rate, 0, (1.0, 0.1, 0.01, 0.001)),
        *with_fixed(scaled_rate, 1, (1, 32, 64, 128, 256, 512)),
    ),
    "rounded": with_rounding(scaled_rate),
}
"""By mistake, the formula that makes it."""
