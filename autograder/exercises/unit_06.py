"""Unit 06, mixed precision and clipping: what must happen once per window?"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.exercise import Exercise, Observation, Part, register, trial_random
from autograder.lookalikes import lookalike
from autograder.loop_trials import LoopTrial, diagnose, large_batch_gradients, probe_length, uneven_sizes
from autograder.mistakes import add_mistake, mistake
from autograder.precision_messages import (
    AMP_TOLERANCE,
    CLIP_TOLERANCE,
    SUM_TOLERANCE,
    autocast_message,
    clipped_norms,
    norms_message,
    parameters_message,
    scale_message,
    stalled,
    sums_distance,
    sums_message,
)
from autograder.precision_policies import amp_candidates, clipping_candidates
from autograder.precision_trials import (
    AmpTrial,
    ClipTrial,
    Float32SumTrial,
    float32_sums,
    observe_amp,
    observe_clipped,
    observe_float32_sums,
    piled_up_sums,
)
from gradaccum.loops_precision import amp, clipped
from gradaccum.problems import Problem, best_dtype

UNIT = "06_mixed_precision_and_clipping"

BINDING, IDLE = 0.25, 1e7
"""Thresholds as a share of the smallest norm that is due. An idle one has to be idle for scaled gradients as well."""


@register
class TrainEpochClipped(Exercise):
    """``train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm) -> list[float]``."""

    id = "train_epoch_clipped"
    unit = UNIT
    parts = (
        Part("bound", "windows whose norm is above the threshold", 1),
        Part("idle", "windows whose norm is below it, and leftovers", 1),
        Part("norms", "the returned norms", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4, 5])
        uneven = [uneven_sizes(chance, [1, 2, 3, 4, 5], n) for _ in range(3)]
        size, left = (2 if n == 3 else chance.choice([2, 3])), n - 1
        basics = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}

        def trial(offset, *epochs, share, frozen=False, **options):
            problem = Problem(seed + offset, epochs=tuple(map(tuple, epochs)), **basics, **options)
            norms = large_batch_gradients(problem).norm(dim=1)
            return ClipTrial(LoopTrial(problem, frozen=frozen), float(share * norms.min()))

        # As in unit 04: in this order windows of any width leave something over that a later update shows.
        every_kind = ([*uneven[0], *uneven[1][:left]], [size] * probe_length(2, n, left), [size] * (n - 1))
        return {
            "bound": trial(1, uneven[0] + uneven[1], share=BINDING, one_shot=True),
            "idle": trial(2, [size] * (2 * n + left), [size] * (n - 1), share=IDLE, stale=True, gated=True),
            "norms": trial(3, [*uneven[2], *uneven[1][:left]], [size] * n, share=0.5, frozen=True),
            "probe": trial(4, *every_kind, share=IDLE, frozen=True, stale=True, gated=True),
        }

    def observe(self, function, trial):
        return observe_clipped(function, trial)

    def judge(self, trials, observations):
        due = {name: observe_clipped(clipped, trial) for name, trial in trials.items()}
        results = {name: parameters_message(observations[name], due[name], CLIP_TOLERANCE) for name in ("bound", "idle")}
        results["norms"] = norms_message(observations["norms"], due["norms"], CLIP_TOLERANCE)
        if not results["idle"] and not observations["idle"].facts["training_after"]:
            results["idle"] = "Your function left the model in evaluation mode."
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if not any(results.values()):
            return self.verdict(results, failure=failure)
        found = diagnose(trials["probe"].loop, observations["probe"])  # an idle threshold leaves a loop linear
        slugs = found.slugs
        if results["bound"] and not failure:
            slugs += self._clipping_mistake(trials, observations, found.slugs)
        if results["norms"] and not failure and clipped_norms(observations["norms"], due["norms"], trials["norms"].max_norm):
            slugs += ("norm-after-clip",)
        shown = {"expected": found.expected, "found": found.found} if found.slugs else {}
        remark = found.remark if not slugs else ""
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure, remark=remark, **shown)

    def _clipping_mistake(self, trials, observations, loop_slugs) -> tuple[str, ...]:
        """The mistake in clipping, beside those of the loop, that makes the updates of the bound windows."""
        shown = {"bound": observations["bound"]}
        candidates = [
            (slugs, lambda name, loop=loop: observe_clipped(loop, trials[name]))
            for slugs, loop in clipping_candidates(tuple(s for s in loop_slugs if s not in ("stale-start", "tail-stale")))
        ]
        return lookalike(shown, candidates, lambda _, seen, other: not parameters_message(seen, other, CLIP_TOLERANCE))


@register
class TrainEpochAmp(Exercise):
    """``train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype)``."""

    id = "train_epoch_amp"
    unit = UNIT
    parts = (
        Part("update", "updates in float16 and bfloat16, leftovers included", 1),
        Part("clip", "clipping unscaled gradients", 1),
        Part("inf", "windows with infinite gradients change nothing but the scale", 1),
        Part("scale", "one scale per window, updated after it", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        uneven = uneven_sizes(chance, [1, 2, 4, 7], n)
        basics = {"accumulation_steps": n, "device": device, "dtype": "float32", "width": 8}

        def trial(offset, *epochs, precision="float16", share=IDLE, stale=False, scale=None, **options):
            problem = Problem(seed + offset, epochs=tuple(map(tuple, epochs)), stale=stale, **basics)
            norms = large_batch_gradients(problem).norm(dim=1)
            scale = scale or 2.0 ** chance.randint(6, 10)
            return AmpTrial(LoopTrial(problem), precision, scale, float(share * norms.min()), **options)

        epochs = ([*uneven, *[2] * (n - 1)], [2] * n)
        return {
            "float16": trial(1, *epochs),
            # What .grad held before would vanish beside gradients that are scaled.
            "bfloat16": trial(2, *epochs, precision="bfloat16", stale=True, scale=1.0),
            "clip": trial(3, [*uneven, *uneven[::-1]], share=BINDING),
            "inf": trial(4, [2] * (3 * n), broken=n + 1),
            "growth": trial(5, [2] * (2 * n), growth_interval=1),
        }

    def observe(self, function, trial):
        return observe_amp(function, trial)

    def judge(self, trials, observations):
        due = {name: observe_amp(amp, trial) for name, trial in trials.items()}
        said = {name: parameters_message(observations[name], due[name], AMP_TOLERANCE) for name in trials}
        said |= {name: said[name] or autocast_message(observations[name], trials[name]) for name in ("float16", "bfloat16")}
        results = {
            "update": said["float16"] or said["bfloat16"],
            "clip": said["clip"] or norms_message(observations["clip"], due["clip"], AMP_TOLERANCE),
            "inf": said["inf"] or scale_message(observations["inf"], due["inf"]),
            "scale": said["growth"] or scale_message(observations["growth"], due["growth"]),
        }
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if failure or not any(results.values()):
            slugs = _refused_by_scaler(list(observations.values()), trials["float16"].loop.problem.accumulation_steps)
            return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure)
        candidates = [
            (slugs, lambda name, loop=loop: observe_amp(loop, trials[name])) for slugs, loop in ((((), amp)), *amp_candidates())
        ]

        def alike(name: str, seen: Observation, other: Observation) -> bool:
            return not (other.failure or parameters_message(seen, other, AMP_TOLERANCE) or scale_message(seen, other))

        slugs = lookalike(observations, candidates, alike)
        if any(autocast_message(observations[name], trials[name]) for name in ("float16", "bfloat16")):
            slugs += ("autocast-missing",)
        if results["clip"] and not said["clip"] and clipped_norms(observations["clip"], due["clip"], trials["clip"].max_norm):
            slugs += ("norm-after-clip",)
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)))


@register
class AccumulateInFloat32(Exercise):
    """``accumulate_in_float32(model, loss_fn, micro_batches) -> dict[str, Tensor]``."""

    id = "accumulate_in_float32"
    unit = UNIT
    parts = (
        Part("sums", "sums that do not stall", 1),
        Part("ragged", "ragged micro-batches", 1),
        Part("model", "float32 results and an untouched model", 1),
    )

    def trials(self, seed, device):
        return {
            "sums": Float32SumTrial(seed + 1, 600, False, 0.01, device),
            "ragged": Float32SumTrial(seed + 2, 24, True, 1.0, device),
        }

    def observe(self, function, trial):
        return observe_float32_sums(function, trial)

    def judge(self, trials, observations):
        sums = {name: float32_sums(trial) for name, trial in trials.items()}
        results = {name: sums_message(observations[name], sums[name][()]) for name in trials}
        results["model"] = _kept_message(observations)
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if failure or not (results["sums"] or results["ragged"]):
            return self.verdict(results, failure=failure)
        for slugs in sums["sums"]:
            ragged = not sums_message(observations["ragged"], sums["ragged"][slugs], 2 * SUM_TOLERANCE)
            if ragged and not sums_message(observations["sums"], sums["sums"][slugs]):
                return self.verdict(results, mistakes=tuple(map(mistake, slugs)))
            if ragged and stalled(observations["sums"], sums["sums"][slugs]):
                return self.verdict(results, mistakes=tuple(map(mistake, (*slugs, "low-precision-sum"))))
        return self.verdict(results, mistakes=tuple(map(mistake, self._piled_up(trials["ragged"], observations["ragged"]))))

    def _piled_up(self, trial: Float32SumTrial, seen: Observation) -> tuple[str, ...]:
        """The mistakes of the sums that hold micro-batches again and again and come closest to these."""
        off, slugs = min((sums_distance(seen.tensors, piled), slugs) for slugs, piled in piled_up_sums(trial))
        return slugs if off <= 2 * SUM_TOLERANCE else ()


def _refused_by_scaler(observations: list[Observation], accumulation_steps: int) -> tuple[str, ...]:
    """The mistake of a loop that the scaler itself stops on every trial, from what it was asked for before."""
    first, *others = observations
    if any(seen.failure is None or seen.failure.kind != "raised" for seen in (first, *others)):
        return ()
    facts, several = first.facts, first.facts["backwards"] > accumulation_steps
    unscales, steps, updates = (facts[name] for name in ("unscales", "scaler_steps", "scaler_updates"))
    if updates == 1 and not unscales:
        return ("scaler-update-every",) if facts["backwards"] == 1 else ("unscale-missing",)
    if unscales >= 2 and not steps and not updates:
        return ("scaler-update-missing",) if several else ("unscale-each",)
    if steps and not updates:
        return ("scaler-update-missing",) if several else ("scaler-step-every",)
    return ()


def _kept_message(observations: Mapping[str, Observation]) -> str:
    failure = next((seen.failure for seen in observations.values() if seen.failure), None)
    if failure:
        return failure.message
    tensors = [tensor for seen in observations.values() for tensor in seen.tensors.values()]
    if not tensors or any(tensor.dtype != torch.float32 for tensor in tensors):
        return "The tensors you return are not float32."
    if any(seen.facts["moved"] for seen in observations.values()):
        return "Your function changed the model's parameters or their dtype."
    return ""


add_mistake(
    "clip-per-micro-batch",
    "You clip inside the window, after each micro-batch: what is clipped are parts of the gradient, so its direction changes.",
    "The threshold speaks of the gradient an update uses. When is that gradient complete?",
)
add_mistake(
    "clip-too-late",
    "No update is clipped: whatever clipping there is comes after the update has read the gradient.",
    "Which line reads .grad? Clipping has to happen before it.",
)
add_mistake(
    "clip-too-early",
    "You clip before the last backward, so the last micro-batch joins unclipped.",
    "What is in .grad at the moment you clip, and what is added to it afterwards?",
)
add_mistake(
    "clip-by-value",
    "You clip each component by itself, which turns the gradient; the threshold here is for the length of the whole.",
    "After clipping by norm a gradient points where it pointed before. Does yours?",
)
add_mistake(
    "clip-before-unscale",
    "You clip while the gradients are still multiplied by the scale, so the threshold is in effect divided by it.",
    "In which unit is the threshold, and in which are the gradients when you clip?",
)
add_mistake(
    "unscale-missing",
    "The update uses gradients that are still multiplied by the scale.",
    "Which call divides the gradients by the scale, and who calls it in your loop?",
)
add_mistake(
    "unscale-each",
    "Gradients are divided by the scale after every micro-batch, so the early ones are divided again and again.",
    "How often may one gradient be unscaled before it is used?",
)
add_mistake(
    "scaler-step-every",
    "Your loop makes an update after every micro-batch; scaling does not change where updates belong.",
    "How many updates does a window make?",
)
add_mistake(
    "scaler-update-every",
    "The scale moves inside a window, so its micro-batches are added up in different units.",
    "What must be true of the scale between the first backward of a window and its unscaling?",
)
add_mistake(
    "inf-applied",
    "A window with infinite gradients reaches the parameters.",
    "Who looks for infinities before an update, and do you give it the chance?",
)
add_mistake(
    "inf-not-reported",
    "You sort out windows with infinities yourself, so the scaler never hears of them and keeps a scale that is too high.",
    "Which calls look for infinities and lower the scale? Do they run for such a window?",
)
add_mistake(
    "inf-not-cleared",
    "A window with infinite gradients makes no update, as it should, but it is not cleared either: its infinities stay in "
    ".grad, and every later window is skipped, too.",
    "Follow .grad through a window that the scaler skips. What is in it when the next one begins?",
)
add_mistake(
    "gradients-pile-up",
    "What you add to your sums still holds the micro-batches before it, so the first ones count again and again.",
    "backward() adds. What should .grad hold when you add it to your sums, and what does it hold?",
)
add_mistake(
    "low-precision-sum",
    "The sums are kept in bfloat16: once a sum is 256 times its addend, adding changes nothing any more.",
    "In which dtype does + happen in your loop?",
)
add_mistake(
    "scaler-update-missing",
    "The scaler is never told that a window is over, so it refuses to work on the next one.",
    "A scaler has three things to do at the end of a window: unscale, step, and one more.",
)
add_mistake(
    "autocast-missing",
    "The model does not compute in the dtype asked for.",
    "Which block makes operations run in another dtype, which lines belong into it, and which dtype is it told?",
)
add_mistake(
    "norm-after-clip",
    "The norms you return are those after clipping: whatever was above the threshold is reported as the threshold.",
    "clip_grad_norm_ returns something. Is it the norm before it clipped, or after?",
)
