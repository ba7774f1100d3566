"""Unit 09, contrastive losses: what if the loss does not decompose?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Failure, Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_09_contrastive_losses.judging.costs import judge_costs
from autograder.exercises.unit_09_contrastive_losses.judging.loss_variants import name_gradients
from autograder.exercises.unit_09_contrastive_losses.judging.messages import (
    NOTHING,
    adds_directions,
    in_words_of_windows,
    keeps_old_scale,
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
    holds_the_window,
    same_towers,
)
from autograder.exercises.unit_09_contrastive_losses.judging.special_inputs import needs_a_list, needs_equal_sizes
from autograder.exercises.unit_09_contrastive_losses.observing import ContrastiveTrial
from autograder.observing.calls import CallTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import best_dtype
from gradaccum.problems.contrastive import ContrastiveProblem

UNIT = "09_contrastive_losses"


def _where(
    case: str, trial: ContrastiveTrial, seen: Observation, message: Callable[[ContrastiveTrial, Observation], str]
) -> str:
    """What is wrong on a trial, after the case it is about; empty if nothing is."""
    said = message(trial, seen)
    return said if seen.failure or not said else f"{case}: {said}"


TOO_MUCH = "As much is in memory at once as the graphs of several micro-batches take."
"""Whether they are graphs, the count of bytes does not say: a loss that compares all pairs may take as much."""

FIRST, ONLY_FIRST = "encoders", "Your function is right when it is called first, and wrong whenever it is called again."
"""The trial that is observed before all others, and what to say if it is the only one with the right gradients."""

INFINITE = "clean overflowed"

KEPT = {
    "clean one": "With a single micro-batch, where .grad held something before the call",
    "clean unused": "With a parameter that is never used, where .grad held something before the call",
    INFINITE: "If .grad holds infinity before the call",
}
"""By trial, what is special about it. Other trials have the same without old gradients, or with others than infinity."""

ONE_WINDOW = {
    "encoders": "With {} micro-batches of equal size",
    "ragged": "With ragged micro-batches",
    "single": "With a single micro-batch and another logit_scale",
    "clean": "Where .grad held something before the call",
}
"""By trial, in front of what is said of its window alone: in another one the gradient may have another direction and length."""


def _first_wrong_in_words(trials: Mapping[str, ContrastiveTrial], observations: Mapping[str, Observation]) -> str:
    """How far the encoders' gradient is from the one due in the first window of :data:`ONE_WINDOW` in which it is another."""
    for name, case in ONE_WINDOW.items():
        problem, message = trials[name].problem, towers_message(trials[name], observations[name])
        found = None if observations[name].failure or message == NOTHING else found_towers(problem, observations[name])
        if found and not same_towers(problem, found, due(problem).towers):
            return f"{case.format(len(problem.sizes))}: {towers_in_words(problem, found)}"
    return ""


def _kept_message(case: str, trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong in a trial of :data:`KEPT`, with its case in front; empty if nothing is."""
    return _where(case, trial, seen, towers_message) or _where(case, trial, seen, scale_message)


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
    tidy = "clean"

    def trials(self, seed: int, device: str) -> dict[str, ContrastiveTrial]:
        chance = trial_random(self.id, seed)
        size, count = chance.choice([2, 3]), chance.choice([3, 4, 5])
        ragged = [*chance.sample([2, 3, 4, 5], 3)]
        # Neither first nor last: one pair alone has no negatives, so mistakes there would look alike, and whoever takes only
        # micro-batches of the first one's size would have no gradient at all.
        ragged.insert(chance.randrange(1, 3), 1)
        basics: dict[str, Any] = {"device": device, "dtype": best_dtype(device), "gated": True}

        def trial(
            offset: int, sizes: Sequence[int], meter: bool = False, again: bool = False, **options: Any
        ) -> ContrastiveTrial:
            return ContrastiveTrial(ContrastiveProblem(seed + offset, tuple(sizes), **basics | options), meter, again)

        return {
            "encoders": trial(1, [size] * count),
            "ragged": trial(2, ragged, extras=True, one_shot=True),
            "listed": trial(2, ragged, extras=True),
            "single": trial(6, [size + 2], temperature=1.25),  # logit_scale is below 0, where CLIP's own loop clamps it
            "clean": trial(3, [size] * count, stale=True),
            "again": trial(7, [size] * count, again=True),
            "memory": trial(4, [2] * 24, meter=True, patches=192, hidden=3, depth=2),
            "probe": trial(5, ragged, stale=True),
            "clean one": trial(8, [size + 2], stale=True),
            "clean unused": trial(9, [size] * 2, stale=True, extras=True),
            INFINITE: trial(10, [size] * 2, overflowed=True),
        }

    def judge(self, trials: Mapping[str, ContrastiveTrial], observations: Mapping[str, Observation]) -> Verdict:
        several = holds_several_graphs(trials["memory"], observations["memory"])
        results = {name: towers_message(trials[name], observations[name]) for name in ("encoders", "ragged", "memory")}
        results["scale"] = scale_message(trials["encoders"], observations["encoders"])
        results["loss"] = loss_message(trials["encoders"], observations["encoders"])
        single, again = (trials["single"], observations["single"]), (trials["again"], observations["again"])
        for part, message in (("encoders", towers_message), ("scale", scale_message), ("loss", loss_message)):
            results[part] = results[part] or _where("With a single micro-batch and another logit_scale", *single, message)
        results["clean"] = (
            towers_message(trials["clean"], observations["clean"])
            or stale_message(trials, observations)
            or _where("Called again", *again, towers_message)
            or ("" if results["scale"] else _where("Called again", *again, scale_message))
        )
        if not observations["ragged"].failure:
            results["scale"] = results["scale"] or scale_message(trials["ragged"], observations["ragged"])
            results["loss"] = results["loss"] or loss_message(trials["ragged"], observations["ragged"])
        others: tuple[str, ...] = ()
        if not (results["encoders"] or results["scale"] or results["clean"]):
            # What else is wrong has nothing to do with infinity, but maybe with what is special of the others.
            cases = {name: case for name, case in KEPT.items() if name == INFINITE or not any(results.values())}
            kept = {name: _kept_message(case, trials[name], observations[name]) for name, case in cases.items()}
            wrong = next(filter(kept.get, kept), None)
            if wrong:
                results["clean"] = kept[wrong]
                others += () if observations[wrong].failure or wrong == INFINITE else ("stale-start",)
        if several:
            results["memory"] = results["memory"] or TOO_MUCH
            others += ("one-big-batch",) if holds_the_window(trials["memory"], observations["memory"]) else ()
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        return self._explained(results, trials, observations, others, failure)

    def _explained(
        self,
        results: Mapping[str, str],
        trials: Mapping[str, ContrastiveTrial],
        observations: Mapping[str, Observation],
        others: tuple[str, ...],
        failure: Failure | None,
    ) -> Verdict:
        """The verdict, with the names of the mistakes; ``others`` are those that are known already."""
        if_stale, again = (towers_message(trials[one], observations[one]) for one in ("clean", "again"))
        only_ragged = results["ragged"] and not (results["encoders"] or if_stale or again)
        whole_loss = not (results["scale"] or results["loss"])  # or pairs are left out
        if only_ragged and whole_loss and needs_equal_sizes(trials["probe"], observations["probe"]):
            others += ("equal-sizes-assumed",)
        if needs_a_list(trials["listed"], observations["listed"], observations["ragged"], results["ragged"]):
            others += ("stream-spent",)
        name = next((name for name in ("probe", "encoders") if not observations[name].failure), None)
        others += ("stale-start",) if keeps_old_scale(trials["clean"], observations["clean"]) else ()
        if name is None or not any(results.values()):
            return self.verdict(results, mistakes=tuple(map(mistake, others)), failure=failure)
        problem, seen = trials[name].problem, observations[name]
        found = found_towers(problem, seen)
        explained = name_gradients(problem, found) if found else None
        if explained is None:
            if seen.facts["evaluated"]:
                others += ("eval-mode",)
            unnamed = {*others} <= {"stale-start"} and any(results[part] for part in ("encoders", "clean", "ragged"))
            later = (towers_message(trials[one], observations[one]) for one in trials if one != FIRST)
            spent = not towers_message(trials[FIRST], observations[FIRST]) and all(later)
            remark = (ONLY_FIRST if spent else _first_wrong_in_words(trials, observations)) if unnamed else ""
            return self.verdict(results, mistakes=tuple(map(mistake, others)), failure=failure, remark=remark)
        variant, slugs = explained
        if not (results["loss"] and adds_directions(problem, seen)):
            slugs = tuple("gradient-doubled" if slug == "directions-added" else slug for slug in slugs)
        of_ragged = set(slugs) if only_ragged else set()
        slugs += scale_slugs(problem, variant, seen) + loss_slugs(problem, variant, seen)
        if {"encoder-not-reached", "temperature-forgotten"} <= {*slugs}:  # no gradient reaches anything: one cause, one name
            slugs = ("encoder-not-reached",)
        named = tuple(in_words_of_windows(slug, slug in of_ragged) for slug in dict.fromkeys((*slugs, *others)))
        return self.verdict(results, mistakes=named, failure=failure)


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

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)

        def call(
            steps: int, dtype: torch.dtype, sizes: Sequence[int] = (6, 10, 32), widths: Sequence[int] = (48, 96, 512)
        ) -> CallTrial:
            return CallTrial((chance.choice(sizes), steps, chance.choice(widths), dtype))

        dtypes = chance.sample([torch.float16, torch.bfloat16, torch.float32, torch.float64], 4)
        steps = [2, *chance.sample([3, 4, 5, 7], 2), chance.choice([9, 12])]
        calls = {f"several {k}": call(*pair) for k, pair in enumerate(zip(steps, dtypes, strict=True))}
        # The last call once more in another dtype: an answer looked up by all that has stayed the same is then a wrong one.
        *same, dtype = calls["several 3"].arguments
        calls["several 4"] = CallTrial((*same, next(d for d in dtypes if d.itemsize != dtype.itemsize)))
        calls["several 5"] = call(steps[1], dtype, [1], [7])
        return calls | {f"single {k}": call(1, dtype) for k, dtype in enumerate(dtypes)}

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        return judge_costs(self, trials, observations)
