"""What loops that clip, loops in mixed precision and sums in float32 are run on, and what is brought back from them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from autograder.exercise import Observation
from autograder.loop_trials import LoopTrial, observe_loop
from gradaccum.problems import Problem


@dataclass(frozen=True)
class ClipTrial:
    """A loop trial and the threshold."""

    loop: LoopTrial
    max_norm: float


def observe_clipped(function: Callable, trial: ClipTrial) -> Observation:
    """Run a loop that clips; what it returns is among the facts as ``"losses"``."""
    return observe_loop(lambda *arguments: function(*arguments, trial.max_norm), trial.loop)


@dataclass(frozen=True)
class AmpTrial:
    """A loop trial in mixed precision.

    Attributes:
        loop: problem (float32 parameters) and how it is watched.
        precision: ``"float16"`` or ``"bfloat16"``.
        scale, growth_interval: of the scaler.
        max_norm: clipping threshold, for unscaled gradients.
        broken: micro-batch of the epoch whose targets are infinite, or None.
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
        self.calls = {"unscales": 0, "scaler_steps": 0, "scaler_updates": 0}

    def unscale_(self, optimizer):
        self.calls["unscales"] += 1
        return super().unscale_(optimizer)

    def step(self, optimizer, *arguments, **keywords):
        self.calls["scaler_steps"] += 1
        return super().step(optimizer, *arguments, **keywords)

    def update(self, new_scale=None):
        self.calls["scaler_updates"] += 1
        return super().update(new_scale)


def observe_amp(function: Callable, trial: AmpTrial) -> Observation:
    """Run a loop in mixed precision; bring back also the scaler's calls, its scale, and the dtypes the model computed in."""
    scaler = CountingScaler(trial.loop.problem.device, init_scale=trial.scale, growth_interval=trial.growth_interval)
    dtypes: set[str] = set()

    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        hook = model.register_forward_hook(lambda module, x, out: dtypes.add(str(out.dtype).removeprefix("torch.")))
        batches = [(x, torch.full_like(y, torch.inf) if k == trial.broken else y) for k, (x, y) in enumerate(micro_batches)]
        precision = getattr(torch, trial.precision)
        try:
            return function(model, loss_fn, optimizer, scaler, batches, accumulation_steps, trial.max_norm, precision)
        finally:
            hook.remove()

    seen = observe_loop(loop, trial.loop)
    return replace(seen, facts=seen.facts | scaler.calls | {"scale": scaler.get_scale(), "dtypes": sorted(dtypes)})


@dataclass(frozen=True)
class Float32SumTrial:
    """Many nearly equal micro-batches for a bfloat16 model.

    Attributes:
        seed: of model and data.
        count: micro-batches; sizes alternate between 1 and 4 samples if ragged, else they are 2.
        ragged: see there.
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
        sizes = tuple((1, 4)[k % 2] if self.ragged else 2 for k in range(self.count))
        problem = Problem(self.seed, self.count, (sizes,), device=self.device, dtype="float32", stale=True)
        model = problem.build_model().to(torch.bfloat16)
        first_x, first_y = problem.batches()[0]
        batches = [
            ((first_x[:1] + self.spread * x).to(torch.bfloat16), (first_y[:1] + self.spread * y).to(torch.bfloat16))
            for x, y in problem.batches()
        ]
        return model, problem.loss_fn, batches


def observe_float32_sums(function: Callable, trial: Float32SumTrial) -> Observation:
    """The tensors a function returns by name, and whether the model is still what it was."""
    model, loss_fn, batches = trial.build()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    value = function(model, loss_fn, batches)
    if not isinstance(value, Mapping):
        return Observation(facts={"type": type(value).__name__})
    tensors = {str(name): t.detach().cpu() for name, t in value.items() if isinstance(t, Tensor)}
    after = dict(model.named_parameters())
    kept = after.keys() == before.keys() and all(
        after[name].dtype == torch.bfloat16 and torch.equal(before[name], after[name]) for name in before
    )
    return Observation(tensors, {"moved": not kept})


WEIGHTS: dict[tuple[str, ...], Callable[[int, int, int], float]] = {
    (): lambda size, samples, count: size / samples,
    ("no-scale",): lambda size, samples, count: 1.0,
    ("mean-of-means",): lambda size, samples, count: 1 / count,
    ("sum-reduction",): lambda size, samples, count: float(size),
}
"""By mistakes: how much a micro-batch of ``size`` among ``count`` with ``samples`` in all weighs."""


def float32_sums(trial: Float32SumTrial) -> dict[tuple[str, ...], dict[str, Tensor]]:
    """Gradients of each micro-batch in bfloat16, summed in float32 with each of :data:`WEIGHTS`; the right one under ``()``."""
    model, loss_fn, batches = trial.build()
    named = dict(model.named_parameters())
    samples = sum(len(x) for x, _ in batches)
    totals = {slugs: {name: torch.zeros_like(p, dtype=torch.float32) for name, p in named.items()} for slugs in WEIGHTS}
    for x, y in batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()))
        for slugs, weigh in WEIGHTS.items():
            weight = weigh(len(x), samples, len(batches))
            for name, gradient in zip(named, gradients, strict=True):
                totals[slugs][name] += weight * gradient.float()
    return {slugs: {name: total.cpu() for name, total in sums.items()} for slugs, sums in totals.items()}


def piled_up_sums(trial: Float32SumTrial) -> Iterator[tuple[tuple[str, ...], dict[str, Tensor]]]:
    """Sums of a function that adds ``.grad`` to them after every micro-batch and never clears it, with the mistakes in them.

    A micro-batch then counts once for itself and once for each that follows; what ``.grad`` held at first may count as well.
    """
    model, loss_fn, batches = trial.build()
    named = dict(model.named_parameters())
    gradients = [torch.autograd.grad(loss_fn(model(x), y), list(named.values())) for x, y in batches]
    sizes = [len(x) for x, _ in batches]
    for slugs, weigh in WEIGHTS.items():
        weights = [weigh(size, sum(sizes), len(sizes)) for size in sizes]
        of_losses = [weight * (len(sizes) - k) for k, weight in enumerate(weights)], float(len(sizes))
        of_sums = [sum(weights[k:]) for k in range(len(sizes))], sum(weights)
        for (factors, of_start), stale in itertools.product((of_losses, of_sums), (True, False)):
            totals = [
                sum(f * g.float() for f, g in zip(factors, column, strict=True)) for column in zip(*gradients, strict=True)
            ]
            starts = [of_start * stale * (0 if p.grad is None else p.grad.float()) for p in named.values()]
            piled = {name: (t + s).cpu() for name, t, s in zip(named, totals, starts, strict=True)}
            yield (*slugs, "gradients-pile-up"), piled
