"""The factor by which each rank multiplies its mean loss: what is wrong with it in words, and the mistakes that explain it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_10_distributed.observing import TokenTrial
from autograder.judging.number_relations import relation
from autograder.judging.returned_kinds import returned_instead
from gradaccum.fingerprint_words import listing

Factor = Callable[[int, Sequence[int]], float]
"""``factor(tokens of this rank, tokens of every rank)``"""

TOLERANCE = 1e-5
"""Relative difference up to which two factors are the same: float32 leaves 1e-7, wrong formulas are more than 1e-2 off."""


def _share(local: int, tokens: Sequence[int]) -> float:
    """The factor due: this rank's share of all tokens, times the number of ranks; 0 if there are no tokens at all."""
    total = sum(tokens)
    return len(tokens) * local / total if total else 0.0


def factor_message(trial: TokenTrial, seen: Observation) -> str:
    """What is wrong with the factors of a trial; empty if nothing is."""
    factors = seen.facts["ranks"]
    kinds = [value for one in factors for value in one if type(value) not in (int, float)]
    if kinds:
        return returned_instead(kinds[0], "a number, or a tensor with one number,")
    if _fits(_share, trial, seen):
        return ""
    if not all(math.isfinite(value) for one in factors for value in one):
        return "A factor is not a finite number."
    wrong = (k for k, tokens in enumerate(trial.calls) if not _fits(_share, TokenTrial(trial.seed, (tokens,)), _call(seen, k)))
    k = next(wrong)
    alike = all(
        f"{one[k]:.4g}" == f"{_share(local, trial.calls[k]):.4g}" for local, one in zip(trial.calls[k], factors, strict=True)
    )
    digits = 7 if alike else 4
    tokens, found = listing(trial.calls[k]), listing(f"{one[k]:.{digits}g}" for one in factors)
    if not any(trial.calls[k]):
        return f"Ranks with {tokens} tokens get {found}, where each of them has to get 0."
    right = [
        _same(one[k], _share, local, trial.calls[k]) or not local for local, one in zip(trial.calls[k], factors, strict=True)
    ]
    if all(right):
        return f"Ranks with {tokens} tokens get {found}, where one without tokens has to get 0."
    return f"Ranks with {tokens} tokens get {found}. Mean losses times these do not average to the mean over all tokens."


def _call(seen: Observation, k: int) -> Observation:
    """What was observed of one of the calls."""
    return Observation(facts={"ranks": [[one[k]] for one in seen.facts["ranks"]]})


def _fits(formula: Factor, trial: TokenTrial, seen: Observation) -> bool:
    """Whether a formula gives every factor that was returned."""
    factors = seen.facts["ranks"]
    calls = [(k, rank, local) for k, tokens in enumerate(trial.calls) for rank, local in enumerate(tokens)]
    return all(_same(factors[rank][k], formula, local, trial.calls[k]) for k, rank, local in calls)


def _same(found: Any, formula: Factor, local: int, tokens: Sequence[int]) -> bool:
    if type(found) not in (int, float):
        return False
    try:
        due = formula(local, tokens)
    except ZeroDivisionError:
        return not math.isfinite(found)
    return math.isclose(found, due, rel_tol=TOLERANCE, abs_tol=1e-12)


WRONG: dict[str, tuple[Factor, ...]] = {
    "empty-not-a-number": (lambda local, tokens: len(tokens) * local / sum(tokens),),
    "local-tokens-only": (
        lambda local, tokens: 1.0,
        lambda local, tokens: local,
        lambda local, tokens: local / (len(tokens) * local),
        lambda local, tokens: local / local,
        lambda local, tokens: len(tokens) * local,
    ),
    "world-size-missing": (lambda local, tokens: local / sum(tokens),),
    "count-overwritten": (lambda local, tokens: float(len(tokens)),),
    "scale-upside-down": (lambda local, tokens: sum(tokens) / (len(tokens) * local), lambda local, tokens: sum(tokens) / local),
    "scale-for-sums": (lambda local, tokens: len(tokens) / sum(tokens), lambda local, tokens: 1 / sum(tokens)),
    "world-size-fixed": (lambda local, tokens: 2 * local / sum(tokens),),
    "world-size-twice": (lambda local, tokens: len(tokens) ** 2 * local / sum(tokens),),
    "same-factor-for-all": (lambda local, tokens: sum(tokens) / len(tokens), lambda local, tokens: sum(tokens)),
}
"""By slug, the formulas that a function with this mistake computes."""


def _rounded(digits: int) -> Factor:
    return lambda local, tokens: round(_share(local, tokens), digits)


def _with_more_tokens(more: float) -> Factor:
    return lambda local, tokens: len(tokens) * local / (sum(tokens) + more)


def _in_16_bits(dtype: torch.dtype) -> tuple[Factor, ...]:
    """Factors computed in this dtype, or from a total that was converted to it or added up in it."""

    def rounded(value: float) -> Tensor:
        return torch.tensor(value, dtype=dtype)

    def added(tokens: Sequence[int]) -> Tensor:
        return sum(map(rounded, tokens), rounded(0)).clamp(min=1)

    return (
        lambda local, tokens: float(rounded(len(tokens) * local) / rounded(max(1, sum(tokens)))),
        lambda local, tokens: float(rounded(len(tokens) * local) / added(tokens)),
        lambda local, tokens: float(rounded(_share(local, tokens))),
        lambda local, tokens: len(tokens) * local / added(tokens).item(),
        lambda local, tokens: len(tokens) * local / rounded(max(1, sum(tokens))).item(),
    )


def _with_at_least(fewest: int) -> Factor:
    return lambda local, tokens: len(tokens) * local / max(fewest, sum(tokens))


def _total_in_a_byte(local: int, tokens: Sequence[int]) -> float:
    return len(tokens) * local / max(1, sum(tokens) % 256)


FACTORS_IN_WORDS: dict[str, tuple[Factor, ...]] = {
    "If others have tokens, a rank without any gets 1, where 0 is due.": (
        lambda local, tokens: _share(local, tokens) if local else 1.0,
        lambda local, tokens: _share(local, tokens) if local or not sum(tokens) else 1.0,
    ),
    "If no rank has any tokens, all get 1, where 0 is due.": (
        lambda local, tokens: _share(local, tokens) if sum(tokens) else 1.0,
    ),
    "Your factors are cut off to whole numbers.": (lambda local, tokens: float(int(_share(local, tokens))),),
    "You divide by the number of ranks, instead of multiplying by it.": (
        lambda local, tokens: _share(local, tokens) / len(tokens) ** 2,
    ),
    "You divide by the largest number of tokens of a rank.": (
        lambda local, tokens: len(tokens) * local / max(1, *tokens),
        lambda local, tokens: local / max(1, *tokens),
    ),
    "Some of your factors are those of counting only the ranks that have tokens. Gradients are divided by the number of all.": (
        lambda local, tokens: _share(local, tokens) * sum(map(bool, tokens)) / len(tokens),
    ),
    "A rank without tokens counts as one with a single token.": (
        lambda local, tokens: len(tokens) * max(1, local) / max(1, sum(tokens)),
        lambda local, tokens: len(tokens) * max(1, local) / sum(max(1, other) for other in tokens),
        lambda local, tokens: len(tokens) * local / sum(max(1, other) for other in tokens),
    ),
    "The number of all tokens that you divide by is one too large.": (
        lambda local, tokens: len(tokens) * local / (sum(tokens) + 1),
    ),
    "The number that you divide by is a little larger than that of all tokens.": tuple(
        map(_with_more_tokens, (0.1, 0.01, 1e-3))
    ),
    "What you divide by stays too large where all ranks together have a single token, as if something kept it from falling.": (
        *map(_with_at_least, (2, 8, 10, 16, 32, 64, 100)),
        lambda local, tokens: local / max(1, sum(tokens) / len(tokens)),
    ),
    "You add the rank's own tokens to the sum over all ranks, which holds them already.": (
        lambda local, tokens: len(tokens) * local / max(1, sum(tokens) + local),
    ),
    "Your numerator has the tokens of the other ranks, where the rank's own are due.": (
        lambda local, tokens: len(tokens) * (sum(tokens) - local) / max(1, sum(tokens)),
        lambda local, tokens: (sum(tokens) - local) / max(1, sum(tokens)),
    ),
    "You divide by the tokens of the other ranks, where those of all ranks are due.": (
        lambda local, tokens: len(tokens) * local / max(1, sum(tokens) - local),
    ),
    "Somewhere on the way your numbers are rounded to 16 bits, which hold too few digits.": (
        *_in_16_bits(torch.float16),
        *_in_16_bits(torch.bfloat16),
    ),
    "Your sum over the ranks is kept in a byte, which begins anew at 0 after 255.": (_total_in_a_byte,),
    "Your factors are the right ones, rounded.": tuple(map(_rounded, range(5))),
    "You add the tokens of the first two ranks only.": (lambda local, tokens: len(tokens) * local / max(1, sum(tokens[:2])),),
    "You add the tokens of the first and the last rank only.": (
        lambda local, tokens: len(tokens) * local / max(1, tokens[0] + tokens[-1]),
    ),
    "Every rank gets the factor of the first one.": (lambda local, tokens: _share(tokens[0], tokens),),
    "You divide by the tokens of the first rank, where the sum over all ranks is due.": (
        lambda local, tokens: len(tokens) * local / max(1, tokens[0]),
    ),
    "You divide by the tokens of the first rank, where the mean over all ranks is due.": (
        lambda local, tokens: local / max(1, tokens[0]),
    ),
    "You divide by the tokens of the first rank times the number of ranks, where the sum over all ranks is due.": (
        lambda local, tokens: len(tokens) * local / max(1, len(tokens) * tokens[0]),
    ),
    "You divide by the tokens of the last rank times the number of ranks, where the sum over all ranks is due.": (
        lambda local, tokens: len(tokens) * local / max(1, len(tokens) * tokens[-1]),
    ),
    "You divide by the mean number of tokens, cut off to a whole number.": (
        lambda local, tokens: local / max(1, sum(tokens) // len(tokens)),
    ),
    "You multiply by the rank's own number, where the number of ranks is due.": (
        lambda local, tokens: tokens.index(local) * local / max(1, sum(tokens)),
    ),
    "You multiply by the rank's own number plus 1, where the number of ranks is due.": (
        lambda local, tokens: (tokens.index(local) + 1) * local / max(1, sum(tokens)),
    ),
    "Your factors are never above 1, although a rank with more tokens than others is due more.": (
        lambda local, tokens: min(1.0, _share(local, tokens)),
    ),
}
"""Rarer factors, by what makes them."""


def factors_in_words(trials: Mapping[str, TokenTrial], observations: Mapping[str, Observation]) -> str:
    """How the factors of all trials are computed, or how they are related to the right ones; empty if in no known way."""
    if any(seen.failure or _call_apart(seen) for seen in observations.values()):
        return ""
    for words, formulas in FACTORS_IN_WORDS.items():
        if any(all(_fits(formula, trial, observations[name]) for name, trial in trials.items()) for formula in formulas):
            return words
    pairs = [
        (found, _share(local, tokens), rank)
        for name, trial in trials.items()
        for k, tokens in enumerate(trial.calls)
        for rank, (local, found) in enumerate(zip(tokens, (one[k] for one in observations[name].facts["ranks"]), strict=True))
    ]
    if not all(type(found) in (int, float) and math.isfinite(found) for found, _, _ in pairs):
        return ""
    wrong = {rank for found, due, rank in pairs if not math.isclose(found, due, rel_tol=TOLERANCE, abs_tol=1e-12)}
    if wrong == {1, 2}:
        return "Only the first rank gets the factor that is due in every call."
    if wrong in ({1}, {2}):
        return f"All ranks but the {'second' if 1 in wrong else 'third'} get the factor that is due in every call."
    totals = [(sum(trial.calls[0]), trial.world_size) for trial in trials.values() for tokens in trial.calls for _ in tokens]
    counts = [local for trial in trials.values() for tokens in trial.calls for local in tokens]
    of_first = [world * local / max(1, total) for (total, world), local in zip(totals, counts, strict=True)]
    if all(math.isclose(found, due, rel_tol=TOLERANCE) for (found, _, _), due in zip(pairs, of_first, strict=True)):
        return "In every call you divide by the number of all tokens that was right in the first one."
    due_in = [
        [_fits(_share, TokenTrial(trial.seed, (tokens,)), _call(observations[name], k)) for k, tokens in enumerate(trial.calls)]
        for name, trial in trials.items()
    ]
    if all(first and not any(later) for first, *later in due_in):
        return "In a first call all ranks get the factors that are due, in later ones they do not."
    return relation([found for found, _, _ in pairs], [due for _, due, _ in pairs], "Each of your factors", TOLERANCE)


def _call_apart(seen: Observation) -> bool:
    """Whether in some calls a rank leaves out an operation that it makes in others.

    That one rank always makes more of them than another is no sign of it: one that collects numbers may ask each of the others.
    """
    first, *others = seen.facts["shared"]
    return any(len({mine - of_first for mine, of_first in zip(one, first, strict=True)}) > 1 for one in others)


def scale_slugs(trial: TokenTrial, seen: Observation) -> list[str]:
    """All mistakes that explain the factors of a trial: several formulas may give the same numbers."""
    if _call_apart(seen):
        return ["ranks-call-apart"]
    slugs = [slug for slug, formulas in WRONG.items() if any(_fits(f, trial, seen) for f in formulas)]
    if (
        seen.facts["shared"] == [[0] * len(trial.calls)] * trial.world_size
    ):  # no rank asked the others, so no count was overwritten
        slugs = list(dict.fromkeys("local-tokens-only" if slug == "count-overwritten" else slug for slug in slugs))
    if all(any(one) for one in seen.facts["shared"]) and _fits(lambda local, tokens: 1.0, trial, seen):
        slugs = ["count-overwritten" if slug == "local-tokens-only" else slug for slug in slugs]
    return slugs
