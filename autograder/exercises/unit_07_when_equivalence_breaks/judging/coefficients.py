"""The momentum of BatchNorm and the β of an optimizer with which N small steps match one large one, and wrong formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch

from autograder.contract.observation import Observation
from autograder.judging.calls import Formula, with_fixed, with_rounding
from autograder.observing.calls import CallTrial

FLOAT32, FIVE_DECIMALS = 1e-6, 5.1e-6
"""Relative and absolute difference up to which a number is right: computed in float32, or rounded to five digits or decimals. A
wrong formula is 1e-2 off."""

_LEFT_OF_RUNNING = (
    "For a momentum of {0:g} and N = {1} you return {value:g}. N passes with that leave {left} of the old running value; "
    "one pass with {0:g} leaves {due}."
)
_LEFT_OF_GRADIENT = (
    "For β = {0:g} and N = {1} you return {value:g}. One update with that leaves this share of a gradient; "
    "N updates with {0:g} leave a different one."
)


def matched_momentum(momentum: float, accumulation_steps: float) -> float:
    """The momentum with which N passes leave as much of the old running value as one pass with ``momentum``."""
    return 1 - (1 - momentum) ** (1 / accumulation_steps)


def matched_beta(beta: float, accumulation_steps: int) -> float:
    """The coefficient with which one update leaves as much of an old gradient as N updates with ``beta``."""
    return beta**accumulation_steps


WRONG_MOMENTA: Mapping[str, Formula | tuple[Formula, ...]] = {
    "momentum-unchanged": lambda m, n: m,
    "momentum-divided": lambda m, n: m / n,
    "passes-off-by-one": (
        lambda m, n: m if n == 1 else matched_momentum(m, n - 1),
        lambda m, n: matched_momentum(m, n + 1),
        lambda m, n: m if n == 1 else matched_momentum(m, n + 1),
    ),
    "fixed-number": (
        *with_fixed(matched_momentum, 0, (0.01, 0.1, 0.2, 0.5, 0.9)),
        *with_fixed(matched_momentum, 1, (2, 3, 4, 8, 16, 32)),
    ),
    "rounded": with_rounding(matched_momentum),
    "matched-wrong-way": (lambda m, n: 1 - (1 - m) ** n, lambda m, n: m * n, lambda m, n: min(1.0, m * n)),
    "kept-not-taken": ((lambda m, n: m ** (1 / n)), (lambda m, n: (1 - m) ** (1 / n)), (lambda m, n: m**n)),
}
"""By slug, the momentum that a function with this mistake returns."""

WRONG_BETAS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "beta-unchanged": lambda b, n: b,
    "beta-divided": lambda b, n: b / n,
    "passes-off-by-one": (
        lambda b, n: b ** (n - 1),
        lambda b, n: b if n == 1 else b ** (n - 1),
        lambda b, n: b ** (n + 1),
        lambda b, n: b if n == 1 else b ** (n + 1),
    ),
    "fixed-number": (
        *with_fixed(matched_beta, 0, (0.8, 0.9, 0.95, 0.99, 0.999)),
        *with_fixed(matched_beta, 1, (2, 3, 4, 8, 16, 32)),
    ),
    "rounded": with_rounding(matched_beta),
    "beta-wrong-way": (lambda b, n: b ** (1 / n), lambda b, n: 1 - (1 - b) / n),
    "beta-first-order": (
        *(lambda b, n: 1 - (1 - b) * n, lambda b, n: max(0.0, 1 - (1 - b) * n)),
        lambda b, n: math.exp(-(1 - b) * n),
    ),
    "beta-is-kept": (
        *(lambda b, n: 1 - (1 - b) ** (1 / n), lambda b, n: 1 - (1 - b) ** n),
        *(lambda b, n: (1 - b) ** n, lambda b, n: (1 - b) ** (1 / n), lambda b, n: 1 - b**n),
    ),
}
"""By slug, the coefficient that a function with this mistake returns."""


def _in_16_bits(formula: Formula) -> tuple[Formula, ...]:
    """The formula on a number in float16 and in bfloat16."""

    def within(dtype: torch.dtype) -> Formula:
        return lambda value, n: float(formula(torch.tensor(value, dtype=dtype), n))

    return tuple(map(within, (torch.float16, torch.bfloat16)))


MOMENTA_IN_WORDS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "Every N above 1 is taken for 2.": lambda m, n: m if n == 1 else matched_momentum(m, 2),
    "Your numbers have no more digits than 16 bits can hold.": (
        *_in_16_bits(matched_momentum),
        *(lambda m, n, taken=taken: taken(1 - m, n) for taken in _in_16_bits(lambda left, n: 1 - left ** (1 / n))),
    ),
    "You return -log(1 - m)/N, which comes closer as N grows.": lambda m, n: -math.log(1 - m) / n,
    "You return 0 for N > 1, as an exponent of 1 // N makes it: that is rounded down to 0.": lambda m, n: (
        1 - (1 - m) ** (1 // n)
    ),
    "You take the momentum for what is kept: m is the share of the new value.": lambda m, n: 1 - m ** (1 / n),
    "Your formula is a series that is cut off: it comes close for small momenta, but not for others.": (
        *(lambda m, n: m / n + (n - 1) * m**2 / (2 * n**2), lambda m, n: m / n + (1 - 1 / n) * m**2 / 2),
    ),
    "You return 1 - exp(-m/N), which comes close for small momenta, but not for others.": lambda m, n: 1 - math.exp(-m / n),
    "Your N is rounded down to a power of two.": lambda m, n: matched_momentum(m, 2 ** int(math.log2(n))),
    "You return 1 minus the N-th power of 1 - m/N, where a root of 1 - m is due instead of the power.": lambda m, n: (
        1 - (1 - m / n) ** n
    ),
    "Your formula has the root of N where N is due.": lambda m, n: matched_momentum(m, math.sqrt(n)),
    "You divide the momentum by the root of N.": lambda m, n: m / math.sqrt(n),
    "You return 1 - (1 - m)/N, where a root is due. (If you wrote ** 1 / N: the exponent needs parentheses.)": lambda m, n: (
        1 - (1 - m) / n
    ),
}
"""Rarer momenta, by what makes them."""

BETAS_IN_WORDS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "Every N above 1 is taken for 2.": lambda b, n: b if n == 1 else b**2,
    "Your numbers have no more digits than 16 bits can hold.": _in_16_bits(matched_beta),
    "You multiply β by N, where β to the power of N is due.": lambda b, n: b * n,
    "You return N · (1 - β^N) / (1 - β), which is no momentum but a factor for the learning rate.": lambda b, n: (
        n * (1 - b**n) / (1 - b)
    ),
    "Your exponent is the root of N.": lambda b, n: b ** math.sqrt(n),
    "Your exponent is N rounded down to a power of two.": lambda b, n: b ** (2 ** int(math.log2(n))),
    "You return the mean of β, β², … up to β to the power of N, where the last of them is due.": (
        lambda b, n: sum(b**k for k in range(1, n + 1)) / n
    ),
    "For N = 1 you return 0, where β itself is due.": lambda b, n: 0.0 if n == 1 else b**n,
    "You square β N - 1 times, so the exponent of β is 2 to the power of N - 1.": lambda b, n: b ** (2 ** (n - 1)),
    "Your formula is a series that is cut off: it comes close where N · (1 - β) is small, but not elsewhere.": (
        lambda b, n: 1 - n * (1 - b) + n * (n - 1) / 2 * (1 - b) ** 2
    ),
    "You square β N times, so the exponent of β is 2 to the power of N.": lambda b, n: b ** (2**n),
}
"""Rarer coefficients, by what makes them."""


COARSE = 2e-3
"""Largest difference that is said to be one of too few digits."""


def few_digits(trials: Mapping[str, CallTrial], observations: Mapping[str, Observation], formula: Formula) -> str:
    """That all numbers are near those due, but not to as many digits as are asked for; empty if it is not so."""
    found = [observations[name].facts.get("value") for name in trials]
    if not all(isinstance(value, float) for value in found):
        return ""
    off = max(abs(value - formula(*trial.arguments)) for value, trial in zip(found, trials.values(), strict=True))
    return f"Your numbers are off by up to about {off:.1g} only, but five digits are asked for." if off <= COARSE else ""


def momentum_message(trial: CallTrial, found: object) -> str:
    """What is wrong with a momentum: how much N passes with it would leave of the old running value."""
    return _what_is_left(_LEFT_OF_RUNNING, lambda momentum, steps: (1 - momentum) ** steps, trial, found)


def beta_message(trial: CallTrial, found: object) -> str:
    """What is wrong with a coefficient: how much one update with it would leave of a gradient."""
    return _what_is_left(_LEFT_OF_GRADIENT, lambda beta, steps: beta, trial, found)


def _what_is_left(words: str, left: Callable[[float, int], float], trial: CallTrial, found: object) -> str:
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        return "Your function did not return a number between 0 and 1."
    value, steps = trial.arguments
    exact = left(found, steps), 1 - value
    rounded = [f"{share:.3g}" for share in exact]
    digits = 9 if rounded[0] == rounded[1] or (rounded[0] == "1" and exact[0] != 1) else 3
    return words.format(value, steps, value=found, left=f"{exact[0]:.{digits}g}", due=f"{exact[1]:.{digits}g}")
