"""Unit 06, mixed precision and clipping: what must happen once per window?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from autograder.exercise import Exercise, Observation, Part, Verdict, register, trial_random
from autograder.lookalikes import lookalike
from autograder.loop_trials import LoopTrial, large_batch_gradients, observe_loop
from autograder.mistakes import add_mistake, mistake
from gradaccum.loops_precision import AMP, CLIPPING
from gradaccum.problems import Problem, best_dtype

UNIT = "06_mixed_precision_and_clipping"

CLIP_TOLERANCE = 1e-4
"""``clip_grad_norm_`` adds 1e-6 to the norm it divides by; a student who does not is right as well. Wrong clipping on these
problems differs by more than 1e-2."""

AMP_TOLERANCE = 0.03
"""A product rounded to bfloat16 is off by up to 0.4 %, and the order of scaling decides which way; wrong loops differ by more
than 10 % on these problems."""


@dataclass(frozen=True)
class ClipTrial:
    """A loop trial and the threshold."""

    loop: LoopTrial
    max_norm: float


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
        uneven = [chance.sample([1, 2, 3, 4, 5], n) for _ in range(2)]
        basics = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}

        def trial(offset, *epochs, share, frozen=False, one_shot=False):
            problem = Problem(seed + offset, epochs=tuple(map(tuple, epochs)), one_shot=one_shot, **basics)
            norms = large_batch_gradients(problem).norm(dim=1)
            return ClipTrial(LoopTrial(problem, frozen=frozen), float(share * norms.min()))

        return {
            "bound": trial(1, uneven[0] + uneven[1], share=0.25, one_shot=True),
            "idle": trial(2, [2] * (2 * n + n // 2), [2] * (n - 1), share=1000),
            "norms": trial(3, [2] * (2 * n + n // 2), share=0.5, frozen=True),
        }

    def observe(self, function, trial):
        return observe_loop(partial(_with_arguments, function, (trial.max_norm,)), trial.loop)

    def judge(self, trials, observations):
        due = {name: self.observe(CLIPPING["clipped"], trial) for name, trial in trials.items()}
        results = {name: _parameters_message(observations[name], due[name], CLIP_TOLERANCE) for name in ("bound", "idle")}
        results["norms"] = _norms_message(observations["norms"], due["norms"], CLIP_TOLERANCE)
        return _judged(self, trials, observations, results, CLIPPING, CLIP_TOLERANCE)


@dataclass(frozen=True)
class AmpTrial:
    """A loop trial in mixed precision.

    Attributes:
        loop: problem (float32 parameters) and how it is watched.
        precision: ``"float16"`` or ``"bfloat16"``.
        scale, growth_interval: of the scaler.
        max_norm: clipping threshold, for unscaled gradients.
        broken: micro-batch of the first epoch whose targets are infinite, or None.
    """

    loop: LoopTrial
    precision: str
    scale: float
    max_norm: float
    growth_interval: int = 1000
    broken: int | None = None


class CountingScaler(torch.amp.GradScaler):
    """A gradient scaler that counts what is asked of it."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.calls = {"unscales": 0, "scaler_updates": 0}

    def unscale_(self, optimizer):
        self.calls["unscales"] += 1
        return super().unscale_(optimizer)

    def update(self, new_scale=None):
        self.calls["scaler_updates"] += 1
        return super().update(new_scale)


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
        uneven = chance.sample([1, 2, 3, 4], n)
        basics = {"accumulation_steps": n, "device": device, "dtype": "float32", "width": 8}

        def trial(offset, sizes, precision, share, **options):
            problem = Problem(seed + offset, epochs=(tuple(sizes),), **basics)
            norms = large_batch_gradients(problem).norm(dim=1)
            return AmpTrial(LoopTrial(problem), precision, 2.0 ** chance.randint(6, 10), float(share * norms.min()), **options)

        tail = [2] * (n - 1)
        return {
            "float16": trial(1, [*uneven, *tail], "float16", 1000),
            "bfloat16": trial(2, [*uneven, *tail], "bfloat16", 1000),
            "clip": trial(3, [*uneven, *uneven], "float16", 0.25),
            "inf": trial(4, [2] * (3 * n), "float16", 1000, broken=n + 1),
            "growth": trial(5, [2] * (2 * n), "float16", 1000, growth_interval=1),
        }

    def observe(self, function, trial):
        problem = trial.loop.problem
        scaler = CountingScaler(problem.device, init_scale=trial.scale, growth_interval=trial.growth_interval)

        def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
            batches = [(x, y.clone() if k == trial.broken else y) for k, (x, y) in enumerate(micro_batches)]
            if trial.broken is not None:
                batches[trial.broken][1].fill_(float("inf"))
            precision = getattr(torch, trial.precision)
            return function(model, loss_fn, optimizer, scaler, batches, accumulation_steps, trial.max_norm, precision)

        seen = observe_loop(loop, trial.loop)
        return replace(seen, facts=seen.facts | scaler.calls | {"scale": scaler.get_scale()})

    def judge(self, trials, observations):
        due = {name: self.observe(AMP["amp"], trial) for name, trial in trials.items()}
        said = {name: _parameters_message(observations[name], due[name], AMP_TOLERANCE) for name in trials}
        results = {
            "update": said["float16"] or said["bfloat16"],
            "clip": said["clip"] or _norms_message(observations["clip"], due["clip"], AMP_TOLERANCE),
            "inf": said["inf"] or _scale_message(observations["inf"], due["inf"]),
            "scale": said["growth"] or _scale_message(observations["growth"], due["growth"]),
        }
        asked_every_time = all(
            seen.failure and seen.facts.get("scaler_updates", 0) >= 1 and not seen.facts.get("unscales")
            for seen in observations.values()
        )
        if asked_every_time:
            failure = next(iter(observations.values())).failure
            return self.verdict(results, mistakes=(mistake("scaler-update-every"),), failure=failure)
        return _judged(self, trials, observations, results, AMP, AMP_TOLERANCE)


@dataclass(frozen=True)
class Float32SumTrial:
    """Many nearly equal micro-batches for a bfloat16 model.

    Attributes:
        seed: of model and data.
        count: micro-batches; sizes alternate between 1 and 2 samples if ragged, else they are 2.
        spread: how much the samples differ; the smaller, the sooner a sum in bfloat16 stalls.
        device: where.
    """

    seed: int
    count: int
    ragged: bool
    spread: float
    device: str

    def build(self):
        """The model in bfloat16, the loss and the micro-batches."""
        sizes = tuple(1 + (k % 2 if self.ragged else 1) for k in range(self.count))
        problem = Problem(self.seed, self.count, (sizes,), device=self.device, dtype="float32", stale=True)
        model = problem.build_model().to(torch.bfloat16)
        first_x, first_y = problem.batches()[0]
        batches = [
            ((first_x[:1] + self.spread * x).to(torch.bfloat16), (first_y[:1] + self.spread * y).to(torch.bfloat16))
            for x, y in problem.batches()
        ]
        return model, problem.loss_fn, batches


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
        model, loss_fn, batches = trial.build()
        before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
        value = function(model, loss_fn, batches)
        if not isinstance(value, Mapping):
            return Observation(facts={"type": type(value).__name__})
        tensors = {str(name): t.detach().cpu() for name, t in value.items() if isinstance(t, Tensor)}
        moved = any(not torch.equal(before[name], parameter) for name, parameter in model.named_parameters())
        low = any(parameter.dtype != torch.bfloat16 for parameter in model.parameters())
        return Observation(tensors, {"moved": moved or low})

    def judge(self, trials, observations):
        results: dict[str, str] = {}
        for name in ("sums", "ragged"):
            results[name] = _dictionary_message(observations[name], _float32_sums(trials[name]))
        results["model"] = results["sums"] if any(o.failure for o in observations.values()) else _kept_message(observations)
        failure = next((o.failure for o in observations.values() if o.failure), None)
        if not any(results.values()) or failure:
            return self.verdict(results, failure=failure)
        wrong = {
            "no-scale": partial(_float32_sums, weigh=lambda size, samples, count: 1.0),
            "mean-of-means": partial(_float32_sums, weigh=lambda size, samples, count: 1 / count),
        }
        if _stalled(observations["sums"], _float32_sums(trials["sums"])):
            return self.verdict(results, mistakes=(mistake("low-precision-sum"),))
        candidates = [((slug,), lambda name, f=f: Observation(f(trials[name]))) for slug, f in wrong.items()]
        slugs = lookalike(observations, candidates, lambda _, a, b: not _dictionary_message(a, b.tensors))
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)))


SUM_TOLERANCE = 0.02
"""Weights may be applied before or after rounding to bfloat16 (0.4 %, averaging out over the sum); a running sum in bfloat16
over 600 nearly equal addends stalls and is off by more than 30 %."""


def _float32_sums(trial: Float32SumTrial, weigh=lambda size, samples, count: size / samples) -> dict[str, Tensor]:
    """Gradients of each micro-batch in bfloat16, weighed and summed in float32."""
    model, loss_fn, batches = trial.build()
    named = dict(model.named_parameters())
    totals = {name: torch.zeros_like(parameter, dtype=torch.float32) for name, parameter in named.items()}
    samples = sum(len(x) for x, _ in batches)
    for x, y in batches:
        weight = weigh(len(x), samples, len(batches))
        for name, gradient in zip(named, torch.autograd.grad(loss_fn(model(x), y), list(named.values())), strict=True):
            totals[name] += weight * gradient.float()
    return {name: total.cpu() for name, total in totals.items()}


def _stalled(seen: Observation, due: dict[str, Tensor]) -> bool:
    """Whether sums point the right way but stopped growing: in bfloat16 somewhere between a quarter and four fifths."""
    if seen.tensors.keys() != due.keys():
        return False
    found, wanted = (torch.cat([t[name].double().reshape(-1) for name in sorted(due)]) for t in (seen.tensors, due))
    cosine = torch.nn.functional.cosine_similarity(found, wanted, dim=0)
    return bool(cosine > 0.9 and 0.2 < found.norm() / wanted.norm() < 0.85)


def _dictionary_message(seen: Observation, due: dict[str, Tensor]) -> str:
    if seen.failure:
        return seen.failure.message
    if "type" in seen.facts:
        return f"Your function returned {seen.facts['type']} where a dictionary of tensors by parameter name was due."
    if seen.tensors.keys() != due.keys() or any(seen.tensors[name].shape != due[name].shape for name in due):
        return "Return one tensor for each named parameter, of its shape."
    found, wanted = (torch.cat([t[name].double().reshape(-1) for name in sorted(due)]) for t in (seen.tensors, due))
    if not (found - wanted).norm() <= SUM_TOLERANCE * wanted.norm():
        return "The tensors are not the gradient of the mean loss over all samples."
    return ""


def _kept_message(observations: Mapping[str, Observation]) -> str:
    tensors = [tensor for seen in observations.values() for tensor in seen.tensors.values()]
    if not tensors or any(tensor.dtype != torch.float32 for tensor in tensors):
        return "The tensors you return are not float32."
    if any(seen.facts["moved"] for seen in observations.values()):
        return "Your function changed the model's parameters or their dtype."
    return ""


def _with_arguments(function: Callable, more: tuple, *arguments):
    return function(*arguments, *more)


def _parameters_message(seen: Observation, due: Observation, tolerance: float) -> str:
    if seen.failure:
        return seen.failure.message
    if not _close(seen.tensors["parameters"], due.tensors["parameters"], due, tolerance):
        return "The parameters after training are not those of clipped large-batch training."
    return ""


def _close(found: Tensor, wanted: Tensor, due: Observation, tolerance: float) -> bool:
    """Whether parameters agree, measured against how far a right loop moves them."""
    if found.shape != wanted.shape or not torch.isfinite(found).all():
        return found.shape == wanted.shape and bool(torch.equal(torch.isfinite(found), torch.isfinite(wanted)))
    moved = due.tensors["movements"].sum(0).norm()
    return bool((found - wanted).norm() <= tolerance * moved)


def _norms_message(seen: Observation, due: Observation, tolerance: float) -> str:
    if seen.failure:
        return seen.failure.message
    returned, wanted = seen.facts["losses"], due.facts["losses"]
    if any(row is None for row in returned):
        return "Return a list with one norm for each window."
    if not _same_norms(returned, wanted, tolerance):
        return "The numbers returned are not the norms of the windows' gradients before clipping."
    return ""


def _same_norms(found, wanted, tolerance: float) -> bool:
    if [row is not None and len(row) for row in found] != [row is not None and len(row) for row in wanted]:
        return False
    pairs = [(f, w) for a, b in zip(found, wanted, strict=True) if a for f, w in zip(a, b, strict=True)]
    return all(abs(f - w) <= tolerance * abs(w) if w == w and f == f else f != f and w != w for f, w in pairs)


def _scale_message(seen: Observation, due: Observation) -> str:
    if seen.failure:
        return seen.failure.message
    return "" if seen.facts["scale"] == due.facts["scale"] else "The scaler's scale after the epoch is not the one that is due."


def _judged(exercise, trials, observations, results, gallery: Mapping[str, Callable], tolerance: float) -> Verdict:
    """A verdict, with the mistake of the gallery loop that behaves like the student's on every trial."""
    failure = next((seen.failure for seen in observations.values() if seen.failure), None)
    if not any(results.values()) or failure:
        return exercise.verdict(results, failure=failure)

    def alike(name: str, seen: Observation, other: Observation) -> bool:
        return _close(seen.tensors["parameters"], other.tensors["parameters"], other, tolerance) and _same_norms(
            seen.facts["losses"], other.facts["losses"], tolerance
        )

    wrong = dict(list(gallery.items())[1:])
    candidates = [((slug,), lambda name, loop=loop: exercise.observe(loop, trials[name])) for slug, loop in wrong.items()]
    return exercise.verdict(results, mistakes=tuple(map(mistake, lookalike(observations, candidates, alike))))


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
    "low-precision-sum",
    "The sums are kept in bfloat16: once a sum is 256 times its addend, adding changes nothing any more.",
    "In which dtype does + happen in your loop?",
)
