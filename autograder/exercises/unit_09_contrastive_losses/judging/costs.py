"""What cached features cost, and what wrong answers say instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.verdict import Verdict
from autograder.judging.calls import Formula, in_words, judge_calls
from autograder.observing.calls import CallTrial, Plain
from gradaccum.diagnosis.catalogue import Mistake, mistake

NUMBERS: dict[str, int | None] = {"forwards": 0, "bytes": 1}
"""By part, which number of the returned pair it is about, for several micro-batches."""


def judge_costs(exercise: Exercise, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
    """The verdict on pairs (forward passes, bytes): each number for several micro-batches, both together for a single one."""
    asked: dict[str, CallTrial] = {}
    seen: dict[str, Observation] = {}
    for name, trial in trials.items():
        for part, of in (NUMBERS if name.startswith("several") else {"single": None}).items():
            asked[f"{part}/{name}"] = CallTrial(trial.arguments, {"of": of})
            seen[f"{part}/{name}"] = _number_of(observations[name], of)
    part_of = lambda name: name.split("/")[0]  # noqa: E731
    values = {name: observations[name].facts.get("value") for name in trials if name.startswith("several")}
    turned = all(value == [*reversed(cost(*trials[name].arguments))] for name, value in values.items())
    wrong = {slug: costs for slug, costs in WRONG_COSTS.items() if turned or slug != "cost-turned-round"}
    verdict = judge_calls(exercise, asked, seen, part_of, _of(cost), wrong, _cost_message, described=COSTS_IN_WORDS)
    verdict = replace(verdict, mistakes=tuple(map(_in_words_of_features, verdict.mistakes)))
    doubled = {"encoders-added", "backward-counted"}
    singles = [seen.facts.get("value") for name, seen in observations.items() if name.startswith("single")]
    if doubled & {one.slug for one in verdict.mistakes} and all(single == [2, 0] for single in singles):
        # One pass that is counted twice for the same reason as elsewhere, and no cache.
        return replace(verdict, mistakes=tuple(one for one in verdict.mistakes if one.slug != "single-cached"))
    return verdict


def _in_words_of_features(named: Mistake) -> Mistake:
    """The catalogue's entry; what it says of elements is said of two encoders."""
    if named.slug != "elements-not-bytes":
        return named
    return replace(named, message=named.message.replace(mistake(named.slug).message, NO_DTYPE))


NO_DTYPE = (
    "Your bytes do not depend on the dtype: they are as many as if every number of both encoders took one byte or four, or "
    "every number of one encoder two or eight."
)


def _cost_message(trial: CallTrial, found: Plain | None) -> str:
    call = "B = {}, N = {}, width {} and {}".format(*trial.arguments)
    said = f"({', '.join(map(in_words, found))})" if isinstance(found, list) else in_words(found)
    return f"For {call} your function says {said}, which is not what such a window costs."


def cost(micro_batch_size: int, accumulation_steps: int, width: int, dtype: torch.dtype) -> tuple[int, int]:
    """The pair due: forward passes of each encoder per sample, and bytes of cached features."""
    if accumulation_steps == 1:
        return 1, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize


def _of(formula: Callable[..., tuple[float, float]]) -> Formula:
    """A formula that gives the number ``of`` a pair (0 or 1), or the whole pair if ``of`` is None."""

    def number(*call: Any, of: int | None) -> object:
        return formula(*call) if of is None else formula(*call)[of]

    return number


def _number_of(seen: Observation, of: int | None) -> Observation:
    """An observation of one of the two numbers, or of both; anything that is not a pair of numbers is reported by its type."""
    facts = seen.facts
    if seen.failure:
        return seen
    if "raised" in facts:
        return Observation(facts={"raised": str(facts["raised"])[:200], "reason": bool(facts.get("reason"))})
    value = facts.get("value")
    if not (isinstance(value, list) and len(value) == 2 and all(type(v) in (int, float) for v in value)):
        return Observation(facts={"type": "no pair of numbers"})
    return Observation(facts={"value": value if of is None else value[of]})


ANY = math.nan
"""Stands for a number that a mistake says nothing about; it equals no number."""

WRONG_COSTS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "cost-turned-round": _of(lambda *call: cost(*call)[::-1]),
    "first-pass-forgotten": _of(lambda *call: (1, ANY)),
    "window-for-each": tuple(_of(lambda size, n, width, dtype, more=more: (n + more, ANY)) for more in (0, 1)),
    "backward-counted": _of(lambda *call: (3, ANY)),
    "encoders-added": _of(lambda *call: (4, ANY)),
    "passes-of-all": tuple(_of(lambda size, n, width, dtype, b=b: (2 * n * (size if b else 1), ANY)) for b in (0, 1)),
    "one-encoder": _of(lambda *call: (ANY, cost(*call)[1] // 2)),
    "one-micro-batch": _of(lambda size, n, *kind: (ANY, cost(size, n, *kind)[1] // n)),
    "others-only": _of(lambda size, n, *kind: (ANY, cost(size, n, *kind)[1] * (n - 1) // n)),
    "elements-not-bytes": tuple(
        _of(lambda size, n, width, dtype, each=each: (ANY, each * 2 * size * n * width)) for each in (1, 4)
    ),
    "single-cached": tuple(
        _of(lambda size, n, *kind, f=f, b=b: (f, b * size * kind[0] * kind[1].itemsize) if n == 1 else cost(size, n, *kind))
        for f, b in ((2, 2), (1, 2), (2, 0))
    ),
}
"""By slug, what a function with this mistake returns."""


def _with_item_size(size: int) -> Formula:
    return _of(lambda b, n, width, dtype: (ANY, 2 * b * n * width * size))


COSTS_IN_WORDS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "The first of your two numbers is the one that is due second.": _of(lambda *call: (cost(*call)[1], ANY)),
    "The second of your two numbers is the one that is due first.": _of(lambda *call: (ANY, cost(*call)[0])),
    "Your bytes do not depend on the dtype: they are as many as if every number of both encoders took 2 bytes, or every number "
    "of one encoder 4.": _with_item_size(2),
    "Your bytes do not depend on the dtype: they are as many as if every number of both encoders took 8 bytes, or every number "
    "of one encoder 16.": _with_item_size(8),
    "You treat two micro-batches like a single one.": _of(lambda b, n, *kind: cost(b, 1 if n == 2 else n, *kind)),
    "You add the bytes of the similarities to those of the features.": _of(
        lambda b, n, width, dtype: (ANY, cost(b, n, width, dtype)[1] + (b * n) ** 2 * dtype.itemsize)
    ),
    "You count the bytes of the similarities, where those of the features are due.": _of(
        lambda b, n, width, dtype: (ANY, (b * n) ** 2 * dtype.itemsize)
    ),
    "You count 2 - 1/N passes, but the first pass keeps no graph, so every sample goes through its encoder again.": _of(
        lambda b, n, *kind: (2 - 1 / n, ANY)
    ),
    "You count the features of a single pair, where those of all pairs of the window are due.": _of(
        lambda b, n, width, dtype: (ANY, 2 * width * dtype.itemsize)
    ),
    "You multiply by the width twice.": _of(lambda b, n, width, dtype: (ANY, cost(b, n, width, dtype)[1] * width)),
    "You treat micro-batches of one sample as if there were only one.": _of(
        lambda b, n, *kind: cost(b, 1 if b == 1 else n, *kind)
    ),
    "You count two passes too many, as if the backward pass were two forward passes.": _of(
        lambda b, n, *kind: (3, 0) if n == 1 else (4, cost(b, n, *kind)[1])
    ),
    "You take the number of pairs in a micro-batch for that of the window.": _of(
        lambda b, n, *kind: (ANY, 2 * (b // n or 1) * n * kind[0] * kind[1].itemsize)
    ),
    "With N = 1 you count no pass at all, although there is one ordinary pass.": _of(
        lambda b, n, *kind: (0, 0) if n == 1 else cost(b, n, *kind)
    ),
}
"""Rarer costs, by what makes them."""
