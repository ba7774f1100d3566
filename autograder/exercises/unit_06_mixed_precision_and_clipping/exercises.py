"""Unit 06, mixed precision and clipping: what must happen once per window?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import torch

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, trial_random, uneven_sizes
from autograder.contract.verdict import Part, Verdict
from autograder.diagnosing.loop_diagnosis import diagnose
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.amp_diagnosis import amp_diagnosis, to_search
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.amp_results import (
    USUAL_SCALE,
    amp_results,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_mistakes import (
    clipping_in_words,
    clipping_mistakes,
    two_mistakes,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_messages import (
    LOST_IN_SUMS,
    NOT_FINITE,
    RIGHT_IF_FEW,
    cancelling_message,
    decimals_message,
    digits_message,
    evaluation_message,
    how_computed,
    in_words_of_sums,
    lengths_in_sums,
    mode_in_words,
    model_message,
    right_sums_message,
    sums_in_words,
    weights_in_sums,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_mistakes import wrong_sums
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_sums import float32_sums
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import (
    CLIP_TOLERANCE,
    CLIPPED_BELOW,
    CLIPPED_FOR_ONE,
    LEFTOVER_NOT_CLIPPED,
    always_clipped,
    clipped_norms,
    cut_message,
    in_special,
    lengths_in_words,
    mixed_message,
    norms_message,
    on_both_sides,
    parameters_message,
    squared_norms,
    unless_failed,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.replays import replay_amp, replay_clipped
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.scaler_refusals import mistakes_before_refusal
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import (
    AmpTrial,
    ClipTrial,
    Float32SumTrial,
)
from autograder.judging.failures import first_failure
from autograder.judging.large_batches import (
    AFTER_INFINITY,
    for_one,
    large_batch_gradients,
    shrinks_in_a_window,
    uses_up_streams,
)
from autograder.judging.left_behind import MODEL, kept_message, outside_message
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.loops.precision import amp, clipped
from gradaccum.problems import Problem, best_dtype

UNIT = "06_mixed_precision_and_clipping"

RAGGED_BELOW = "Where windows are ragged and their norm is below the threshold"

IDLE_THERE = " No norm reaches max_norm there, so nothing has to be clipped."

BINDING, IDLE = 0.1, 1e7
"""Thresholds as a share of the smallest norm that is due. A binding one still binds if it is N times too high; an idle one has
to be idle for scaled gradients as well."""


def _shrinks(trial: ClipTrial | AmpTrial) -> bool:
    """Whether the largest norm on the way is not that of the whole window."""
    return shrinks_in_a_window(trial.loop.problem)


class TrainEpochClipped(Exercise[ClipTrial]):
    """``train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm) -> list[float]``."""

    id = "train_epoch_clipped"
    section = "Where to clip, and at what threshold?"
    unit = UNIT
    parts = (
        Part("bound", "windows whose norm is above the threshold", 1),
        Part("idle", "windows whose norm is below it, and leftovers", 1),
        Part("norms", "the returned norms", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, ClipTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4, 5])
        uneven = [uneven_sizes(chance, [1, 2, 3, 4, 6], n) for _ in range(3)]
        size, left = (2 if n == 3 else chance.choice([2, 3])), n - 1
        basics = Problem(accumulation_steps=n, device=device, dtype=best_dtype(device), width=8)

        def trial(offset: int, *epochs: Iterable[int], share: float, frozen: bool = False, **options: Any) -> ClipTrial:
            options = {"skewed": True, "gated": True, "momentum": 0.0 if frozen else 0.9} | options
            problem = basics.with_(seed=seed + offset, epochs=tuple(map(tuple, epochs)), **options)
            norms = large_batch_gradients(problem).norm(dim=1)
            return ClipTrial(LoopTrial(problem, frozen=frozen), float(share * norms.min()))

        several = (
            trial(3 + 100 * k, [*uneven[2], *uneven[1][:left]], [size] * n, share=0.5, frozen=True) for k in itertools.count()
        )
        # As in unit 04: in this order windows of any width leave something over that a later update shows.
        every_kind = ([*uneven[0], *uneven[1][:left]], [size] * probe_length(2, n, left), [size] * (n - 1))
        return {
            "bound": trial(1, uneven[0] + uneven[1] + uneven[2], share=BINDING, one_shot=True, grouped=0.5),
            "idle": trial(2, [size] * (2 * n + left), [size] * (n - 1), [size] * n, share=IDLE, stale=True, spiked=True),
            # In float32, which a function may not turn into float64.
            "no accumulation": trial(6, [size] * 3, share=IDLE, accumulation_steps=1, dtype="float32", outputs=1, stale=True),
            "cut": trial(7, [2] * n, share=IDLE, coupled=True),
            "norms": next(filter(_shrinks, several)),
            "both sides": on_both_sides(trial(8, 2 * (uneven[0] + uneven[1] + uneven[2]), share=IDLE, frozen=True)),
            "overflowed": trial(9, [size] * n, share=IDLE, overflowed=True),
            "leftover": trial(5, [*uneven[1], *uneven[2][:left]], share=BINDING),
            "bound alone": trial(10, [4] * 6, share=BINDING, accumulation_steps=1),
            "probe": trial(4, *every_kind, share=IDLE, frozen=True, stale=True, grouped=1),
        }

    def judge(self, trials: Mapping[str, ClipTrial], observations: Mapping[str, Observation]) -> Verdict:
        due = {name: replay_clipped(clipped, trial) for name, trial in trials.items()}
        said = {name: parameters_message(observations[name], due[name], CLIP_TOLERANCE) for name in trials}
        norms = {name: norms_message(observations[name], due[name], CLIP_TOLERANCE) for name in trials}
        alone = in_special(CLIPPED_FOR_ONE, said["no accumulation"])
        results = {"bound": said["bound"], "idle": said["idle"] or alone, "norms": norms["norms"]}
        whole = not (results["bound"] or results["idle"])
        joined = False
        if whole:
            results["bound"] = unless_failed(observations["leftover"], LEFTOVER_NOT_CLIPPED, said["leftover"])
            results["bound"] = results["bound"] or for_one(said["bound alone"])
            results["bound"] = results["bound"] or mixed_message(observations["both sides"], due["both sides"])
            results["idle"], joined = cut_message(
                partial(replay_clipped, clipped), trials["cut"], observations["cut"], CLIP_TOLERANCE
            )
            kept = kept_message(observations["idle"]) or kept_message(observations["no accumulation"], MODEL)
            infinite = unless_failed(observations["overflowed"], AFTER_INFINITY, said["overflowed"])
            results["idle"] = results["idle"] or kept or infinite
            results["norms"] = results["norms"] or norms["idle"] or norms["bound"]
            results["norms"] = results["norms"] or ("" if said["bound alone"] else for_one(norms["bound alone"]))
            results["norms"] = results["norms"] or in_special(CLIPPED_FOR_ONE, norms["no accumulation"])
        failure = first_failure(observations)
        if not any(results.values()):
            return self.verdict(results, failure=failure)
        seen = observations["norms"]
        after = results["norms"] and not seen.failure and clipped_norms(seen, due["norms"], trials["norms"].max_norm)
        reported = ("norm-after-clip",) if after else ()
        if results["norms"] and not seen.failure and squared_norms(seen, due["norms"]):
            reported = ("norm-squared",)
        found = diagnose(trials["probe"].loop, observations["probe"])  # an idle threshold leaves a loop linear
        slugs = found.slugs
        if whole and not said["leftover"]:
            mixed = mixed_message(observations["both sides"], due["both sides"])  # which a ragged window may be that is idle
            slugs = (slugs if mixed else ()) + ("one-big-batch",) * joined + reported
            remark = in_special(RAGGED_BELOW, found.remark) if mixed and not slugs else ""
            return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure, remark=remark)
        lengthened = results["idle"] and not failure and always_clipped(observations["probe"], due["probe"], trials["probe"])
        # What else is wrong where the threshold is idle is not clipping, and may well be all that is wrong elsewhere.
        clipping = bool(found.slugs or not found.remark or lengthened)
        # Of the trials with lists, one has its threshold and the other its parameter groups.
        beside = {name: trials[name].loop.problem for name in ("bound", "leftover", "probe")}
        if uses_up_streams(beside, {name: observations[name] for name in beside}):
            slugs += ("stream-used-up",)
        elif results["bound"] and not failure and clipping:
            name = "leftover" if whole else "bound"
            slugs += clipping_mistakes(trials[name], observations[name], found.slugs)
        slugs += reported
        turned = lengthened and "not-clipped" in slugs  # short gradients are lengthened, and long ones as they are
        slugs = tuple(slug for slug in slugs if not (turned and slug == "not-clipped"))
        if lengthened and not (slugs or turned):
            slugs = ("clip-always",)
        if results["bound"] and results["idle"] and not (slugs or failure):
            slugs = two_mistakes({trials[name]: observations[name] for name in ("bound", "idle")})
        remark = found.remark + (IDLE_THERE if found.remark.startswith("Update ") else "")
        if remark and not results["idle"]:  # where there is one group, and sizes are equal
            remark = f"Where micro-batches are ragged and the optimizer has two parameter groups: {remark}"
        bound = observations["bound"]
        # A loop that makes no update at all is told so, and nothing about clipping; nor is one that has used up the stream.
        stepped = any(observations[name].facts.get("update_epochs") for name in ("bound", "probe"))
        stepped = stepped and bool(bound.facts.get("forwards_with_grad"))
        if results["bound"] and stepped and not (slugs or bound.failure):
            words = clipping_in_words(trials["bound"], bound) if clipping else ""
            remark = words or outside_message(bound) or remark or lengths_in_words(bound, due["bound"])
        return self.verdict(
            results,
            mistakes=tuple(map(mistake, slugs)),
            failure=failure,
            remark=CLIPPED_BELOW if turned else "" if slugs else remark,
            expected=found.expected if found.slugs else None,
            found=found.found if found.slugs else None,
        )


class TrainEpochAmp(Exercise[AmpTrial]):
    """``train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype)``."""

    id = "train_epoch_amp"
    section = "Mixed precision in brief"
    unit = UNIT
    parts = (
        Part("update", "updates in float16 and bfloat16, leftovers included", 1),
        Part("clip", "clipping unscaled gradients", 1),
        Part("inf", "windows with infinite gradients change nothing but the scale", 1),
        Part("scale", "one scale per window, updated after it", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, AmpTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        uneven = uneven_sizes(chance, [1, 2, 4, 7], n)
        basics = Problem(accumulation_steps=n, device=device, dtype="float32", width=8)

        def trial(
            offset: int,
            *epochs: Iterable[int],
            precision: str = "float16",
            share: float = IDLE,
            of_problem: Mapping[str, Any] = {},
            scale: float | None = None,
            **options: Any,
        ) -> AmpTrial:
            changes: dict[str, Any] = {"skewed": True, "gated": True, "momentum": 0.5, **of_problem}
            problem = basics.with_(seed=seed + offset, epochs=tuple(map(tuple, epochs)), **changes)
            norms = large_batch_gradients(problem).norm(dim=1)
            # Small enough for the gradients of sums over samples, too, which a function may divide only once they are unscaled.
            scale = scale or 2.0 ** chance.randint(5, 6)
            return AmpTrial(LoopTrial(problem), precision, scale, float(share * norms.min()), **options)

        epochs = ([*uneven, *[2] * (n - 1)], [2] * n)
        several = (trial(3 + 100 * k, [*uneven, *uneven[::-1], *uneven], share=BINDING) for k in itertools.count())
        whole_windows = {"accumulation_steps": 4, "skewed": False}  # a power of two, and a loss that is even in its error
        return {
            "float16": trial(1, *epochs),
            # What .grad held before, or holds of the window before, would vanish beside gradients that are scaled.
            "bfloat16": trial(2, *epochs, precision="bfloat16", of_problem={"stale": True}, scale=1.0, growth_interval=2),
            "no accumulation": trial(
                7, [2] * 3, of_problem={"accumulation_steps": 1, "outputs": 1, "stale": True}, scale=1.0, growth_interval=2
            ),
            "cut": trial(8, [2] * n, of_problem={"coupled": True}, scale=8.0),  # whose gradients are longer
            "telling": trial(9, [2] * n, precision="bfloat16", telling=True, scale=USUAL_SCALE, growth_interval=1),
            "usual scale": trial(10, [2] * n, telling=True, scale=USUAL_SCALE),
            "cancelling": trial(11, [2] * 4, precision="bfloat16", of_problem=whole_windows, cancelling=True),
            "clip": next(filter(_shrinks, several)),
            # A good update before the broken window, and one after it, are not two in a row.
            "inf": trial(4, [2] * (3 * n), precision="bfloat16", broken=n + 1, growth_interval=2),
            # With one sample and one output there is nothing to add up that could turn infinity into NaN.
            "infinite": trial(13, [1] * (3 * n), of_problem={"outputs": 1, "skewed": False}, broken=n + 1, growth_interval=2),
            # Two good updates after it, and one before it, are not three in a row.
            "inf leftover": trial(
                17, [2] * (2 * n - 1), [2] * (n + 1), precision="bfloat16", broken=2 * n - 2, growth_interval=3
            ),
            "growth": trial(5, [2] * (2 * n), growth_interval=1),
            "leftover": trial(6, [*uneven, *[2] * (n - 1)], share=BINDING, growth_interval=2),
            "overflowed": trial(14, [2] * n, of_problem={"overflowed": True}),
            "clip alone": trial(16, [4] * 4, share=BINDING, of_problem={"accumulation_steps": 1}),
            # The other dtype is clipped as well, and by the scale that the window at hand has.
            "together": trial(
                15, [*uneven, *uneven[::-1], *[2] * (n - 1)], precision="bfloat16", share=BINDING, growth_interval=1
            ),
        }

    def judge(self, trials: Mapping[str, AmpTrial], observations: Mapping[str, Observation]) -> Verdict:
        due = {name: replay_amp(amp, trial) for name, trial in trials.items()}
        found = amp_results(trials, observations, due)
        results = found.messages
        failure = first_failure(observations)
        if failure or not any(results.values()):
            named = mistakes_before_refusal(
                list(to_search(observations).values()), trials["float16"].loop.problem.accumulation_steps
            )
            return self.verdict(results, mistakes=named, failure=failure)

        if found.joined and not found.moves:
            return self.verdict(results, mistakes=(mistake("one-big-batch"),))
        slugs, remark = amp_diagnosis(trials, observations, due, found)
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), remark=remark)


class AccumulateInFloat32(Exercise[Float32SumTrial]):
    """``accumulate_in_float32(model, loss_fn, micro_batches) -> dict[str, Tensor]``."""

    id = "accumulate_in_float32"
    section = "Explore: low-precision sums"
    unit = UNIT
    parts = (
        Part("sums", "sums that do not stall", 1),
        Part("ragged", "ragged micro-batches", 1),
        Part("model", "float32 results, from the model as it is", 1),
    )
    tidy = "model"

    def trials(self, seed: int, device: str) -> dict[str, Float32SumTrial]:
        return {
            "sums": Float32SumTrial(seed + 1, 600, False, 0.01, device),
            # What .grad holds at first is so long that it shows at every seed, although it joins one of 24.
            "ragged": Float32SumTrial(seed + 2, 24, True, 1.0, device, stale=16.0),
            "telling": Float32SumTrial(seed + 3, 24, False, 1.0, device, telling=True),
            "cancelling": Float32SumTrial(seed + 4, 4, False, 1.0, device, cancelling=True),
            "evaluation": Float32SumTrial(seed + 5, 4, True, 1.0, device, training=False, overflowed=True),
            "narrow": Float32SumTrial(seed + 6, 4, False, 1.0, device, outputs=1),
            "tied": Float32SumTrial(seed + 7, 4, False, 1.0, device, tied=True),
        }

    def judge(self, trials: Mapping[str, Float32SumTrial], observations: Mapping[str, Observation]) -> Verdict:
        sums = {name: float32_sums(trials[name]) for name in ("sums", "ragged")}
        results = {name: right_sums_message(trials[name], observations[name]) for name in sums}
        results["model"] = model_message(observations.values())
        failure = first_failure(observations)
        if failure or any("type" in seen.facts for seen in observations.values()):
            return self.verdict(results, failure=failure)
        remark = ""
        left = cancelling_message(trials["cancelling"], observations["cancelling"])
        if results["sums"] or results["ragged"]:
            slugs = wrong_sums(trials["ragged"], observations, sums)
            if not slugs:
                ragged = trials["ragged"], observations["ragged"]
                remark = sums_in_words(observations, sums) or mode_in_words(*ragged) or weights_in_sums(*ragged)
                remark = remark or (lengths_in_sums(*ragged) if results["ragged"] else RIGHT_IF_FEW)
            if left != LOST_IN_SUMS:  # which may come from the mistake that has cost points already
                results["sums"] = results["sums"] or left
        else:
            message, slugs = decimals_message(observations["sums"]), ()
            if not message:  # decimals may be too few for the other trials, whose gradients are shorter
                message, slugs = how_computed(trials["telling"], observations["telling"])
            results["model"] = results["model"] or message
            if not message:  # forwards of another model cancel otherwise
                results["sums"] = left
            results["model"] = results["model"] or digits_message(trials["sums"], observations["sums"])
            if not all(torch.isfinite(tensor).all() for tensor in observations["evaluation"].tensors.values()):
                results["ragged"] = NOT_FINITE
            elif other := evaluation_message(trials["evaluation"], observations["evaluation"]):
                results["model"] = results["model"] or other
            elif not message and (narrow := right_sums_message(trials["narrow"], observations["narrow"])):
                results["sums"] = results["sums"] or f"For a model with a single output: {narrow}"
            elif not message and (tied := right_sums_message(trials["tied"], observations["tied"])):
                results["sums"] = results["sums"] or f"For a model in which two layers share a weight: {tied}"
        return self.verdict(results, mistakes=tuple(map(in_words_of_sums, slugs)), remark=remark)
