"""Unit 09, contrastive losses: what if the loss does not decompose?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_09_contrastive_losses import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.exercises.unit_09_contrastive_losses.judging.loss_variants import name_gradients
from autograder.exercises.unit_09_contrastive_losses.judging.messages import (
    NOTHING,
    loss_message,
    loss_slugs,
    scale_message,
    scale_slugs,
    stale_message,
    towers_in_words,
    towers_message,
)
from autograder.exercises.unit_09_contrastive_losses.judging.references import (
    due,
    found_towers,
    holds_several_graphs,
    same_towers,
)
from autograder.exercises.unit_09_contrastive_losses.observing import ContrastiveTrial
from autograder.judging.calls import in_words, judge_calls
from autograder.observing.calls import CallTrial, Plain
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import best_dtype
from gradaccum.problems.contrastive import ContrastiveProblem

UNIT = "09_contrastive_losses"


class AccumulateContrastive(Exercise):
    """``accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches) -> float``."""

    id = "accumulate_contrastive"
    section = "The way out"
    unit = UNIT
    parts = (
        Part("encoders", "the gradient of both encoders", 2),
        Part("ragged", "ragged micro-batches from a generator", 1),
        Part("scale", "the gradient of logit_scale", 1),
        Part("clean", "discarding what .grad held before", 1),
        Part("loss", "the returned loss", 1),
        Part("memory", "one micro-batch's graph at a time", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        size, count = chance.choice([2, 3]), chance.choice([3, 4, 5])
        ragged = chance.sample([1, 2, 3, 4, 5], 4)
        if ragged[-1] == 1:
            ragged.reverse()  # a last micro-batch of one pair has no negatives of its own, and mistakes would look alike
        basics = {"device": device, "dtype": best_dtype(device), "gated": True}

        def trial(offset, sizes, meter=False, **options):
            return ContrastiveTrial(ContrastiveProblem(seed + offset, tuple(sizes), **basics | options), meter)

        return {
            "encoders": trial(1, [size] * count),
            "ragged": trial(2, ragged, extras=True, one_shot=True),
            "listed": trial(2, ragged, extras=True),
            "clean": trial(3, [size] * count, stale=True),
            "memory": trial(4, [2] * 24, meter=True, patches=96, hidden=3, depth=6),
            "probe": trial(5, ragged, stale=True),
        }

    def judge(self, trials, observations):
        several = holds_several_graphs(trials["memory"], observations["memory"])
        results = {name: towers_message(trials[name], observations[name]) for name in ("encoders", "ragged", "memory")}
        results["clean"] = towers_message(trials["clean"], observations["clean"])
        results["clean"] = results["clean"] or stale_message(trials, observations)
        results["scale"] = scale_message(trials["encoders"], observations["encoders"])
        results["loss"] = loss_message(trials["encoders"], observations["encoders"])
        if not observations["ragged"].failure:
            results["scale"] = results["scale"] or scale_message(trials["ragged"], observations["ragged"])
            results["loss"] = results["loss"] or loss_message(trials["ragged"], observations["ragged"])
        if several:
            results["memory"] = results["memory"] or "The graphs of several micro-batches are in memory at once."
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        return self._explained(results, trials, observations, several and not observations["memory"].failure, failure)

    def _explained(self, results, trials, observations, several: bool, failure) -> Verdict:
        """The verdict, with the names of the mistakes."""
        beside = ("one-big-batch",) if several else ()
        if _only_equal_sizes(trials["probe"], observations["probe"], results):
            beside += ("equal-sizes-assumed",)
        if _needs_a_list(trials["listed"], observations["listed"], observations["ragged"], results["ragged"]):
            beside += ("stream-spent",)
        name = next((name for name in ("probe", "encoders") if not observations[name].failure), None)
        if name is None or not any(results.values()):
            return self.verdict(results, mistakes=tuple(map(mistake, beside)), failure=failure)
        problem, seen = trials[name].problem, observations[name]
        found = found_towers(problem, seen)
        explained = name_gradients(problem, found) if found else None
        if explained is None:
            unnamed = not beside and any(results[part] for part in ("encoders", "clean", "ragged"))
            remark = towers_in_words(problem, found) if unnamed else ""
            return self.verdict(results, mistakes=tuple(map(mistake, beside)), failure=failure, remark=remark)
        policy, slugs = explained
        if "directions-added" in slugs and not results["loss"]:  # the loss that is returned is not the sum of two
            slugs = tuple("backward-twice" if slug == "directions-added" else slug for slug in slugs)
        slugs += scale_slugs(problem, policy, seen) + loss_slugs(problem, policy, seen)
        if seen.facts.get("training") is False:
            slugs += ("eval-mode",)
        named = tuple(map(mistake, dict.fromkeys((*slugs, *beside))))
        return self.verdict(results, mistakes=named, failure=failure)


def _only_equal_sizes(trial: ContrastiveTrial, seen: Observation, results) -> bool:
    """Whether gradients are right for micro-batches of equal size, clean or not, and wrong for others, though in a list."""
    return (
        not results["encoders"]
        and not results["clean"]
        and not same_towers(
            trial.problem, None if seen.failure else found_towers(trial.problem, seen), due(trial.problem).towers
        )
    )


def _needs_a_list(trial: ContrastiveTrial, listed: Observation, streamed: Observation, message: str) -> bool:
    """Whether the encoders get gradients from a list, but not from a generator of the same micro-batches."""
    found = None if listed.failure else found_towers(trial.problem, listed)
    if found is None or not any(gradient.any() for gradient in found.values()):
        return False
    return message == NOTHING or (streamed.failure is not None and streamed.failure.kind == "raised")


class AccumulationCost(Exercise):
    """``accumulation_cost(micro_batch_size, accumulation_steps, width, dtype) -> (forwards, feature_bytes)``."""

    id = "accumulation_cost"
    section = "What it costs"
    unit = UNIT
    parts = (
        Part("forwards", "forward passes of each encoder per sample", 1),
        Part("bytes", "bytes of cached features", 1),
        Part("single", "a single micro-batch, for which nothing is cached", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)

        def call(steps, dtype):
            return CallTrial((chance.choice([6, 10, 32]), steps, chance.choice([48, 96, 512]), dtype))

        dtypes = chance.sample([torch.float16, torch.float32, torch.float64], 3)
        steps = chance.sample([3, 4, 5, 7, 8], 3)
        calls = {f"several {k}": call(*pair) for k, pair in enumerate(zip(steps, dtypes, strict=True))}
        return calls | {f"single {k}": call(1, dtype) for k, dtype in enumerate(dtypes[:2])}

    def judge(self, trials, observations):
        asked, seen = {}, {}
        for name, trial in trials.items():
            for part, of in {"forwards": 0, "bytes": 1}.items() if name.startswith("several") else {"single": None}.items():
                asked[f"{part}/{name}"] = CallTrial(trial.arguments, {"of": of})
                seen[f"{part}/{name}"] = _number_of(observations[name], of)

        def message(trial: CallTrial, found: Plain) -> str:
            call = "B = {}, N = {}, width {} and {}".format(*trial.arguments)
            return f"For {call} your function says {in_words(found)}, which is not what cached features cost."

        verdict = judge_calls(self, asked, seen, lambda name: name.split("/")[0], _of(cost), WRONG_COSTS, message)
        doubled = {mistake("encoders-added"), mistake("backward-counted")}
        singles = [seen.facts.get("value") for name, seen in observations.items() if name.startswith("single")]
        if doubled & set(verdict.mistakes) and all(single == [2, 0] for single in singles):
            # One pass that is counted twice for the same reason as elsewhere, and no cache.
            named = tuple(one for one in verdict.mistakes if one.slug != "single-cached")
            return replace(verdict, mistakes=named)
        return verdict


def cost(micro_batch_size: int, accumulation_steps: int, width: int, dtype: torch.dtype) -> tuple[int, int]:
    """What is due: forward passes of each encoder per sample, and bytes of cached features."""
    if accumulation_steps == 1:
        return 1, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize


def _of(formula: Callable) -> Callable:
    """The number ``of`` a pair that a formula yields, or the whole pair."""
    return lambda *call, of: formula(*call) if of is None else formula(*call)[of]


def _number_of(seen: Observation, of: int | None) -> Observation:
    """An observation of one of the two numbers, or of both; something else than two numbers is observed as such."""
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
"""Stands for a number that a mistake says nothing about; equals none."""

WRONG_COSTS = {
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
        _of(lambda size, n, width, dtype, f=f, b=b: (f, b * size * width * dtype.itemsize)) for f, b in ((2, 2), (1, 2), (2, 0))
    ),
}
"""By slug what a function with this mistake returns."""
