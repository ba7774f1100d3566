"""Sums of gradients in float32: those that are due, and those that known mistakes give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import Float32SumTrial
from gradaccum.problems import MicroBatch

WEIGHTS: dict[tuple[str, ...], Callable[[int, int, int], float]] = {
    (): lambda size, samples, count: size / samples,
    ("no-scale",): lambda size, samples, count: 1.0,
    ("mean-of-means",): lambda size, samples, count: 1 / count,
    ("sum-reduction",): lambda size, samples, count: float(size),
}
"""By mistakes: the weight of a micro-batch of ``size``, one of ``count`` with ``samples`` in all."""


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


def clipped_sums(trial: Float32SumTrial, limit: float, *, whole: bool) -> dict[str, Tensor]:
    """The sums if the gradient of each micro-batch is clipped to a length first: as a ``whole``, or of each parameter."""
    model, loss_fn, batches = trial.build()
    named = dict(model.named_parameters())
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in named.items()}
    samples = sum(len(x) for x, _ in batches)
    for x, y in batches:
        gradients = [g.float() for g in torch.autograd.grad(loss_fn(model(x), y), list(named.values()))]
        norms = [float(g.norm()) for g in gradients]
        norms = [math.hypot(*norms)] * len(norms) if whole else norms
        for name, gradient, norm in zip(named, gradients, norms, strict=True):
            totals[name] += len(x) / samples * min(1.0, limit / norm) * gradient
    return {name: total.cpu() for name, total in totals.items()}


def piled_up_sums(trial: Float32SumTrial) -> Iterator[tuple[tuple[str, ...], dict[str, Tensor]]]:
    """Sums of a function that adds ``.grad`` to them after every micro-batch and never clears it; with the mistakes it makes.

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


def sums_without_fusion(trial: Float32SumTrial) -> dict[str, Tensor]:
    """The sums of a telling trial if layers round their product before they add the bias, as under ``torch.func.vmap``."""
    model, loss_fn, batches = trial.build()
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_hook(lambda layer, inputs, output: inputs[0] @ layer.weight.T + layer.bias)
    return _mean_gradient(model, loss_fn, batches)


def otherwise_computed_sums(trial: Float32SumTrial) -> dict[tuple[str, ...], dict[str, Tensor]]:
    """The sums of a telling trial if micro-batches do not go one by one through the model as it is; by mistakes."""
    model, loss_fn, batches = trial.build()
    precise = [(x.float(), y.float()) for x, y in batches]
    together = _mean_gradient(model, loss_fn, [_joined(batches)])  # so far off that float32 makes no difference
    return {("one-forward",): together, ("computed-in-float32",): _mean_gradient(model.float(), loss_fn, precise)}


def _mean_gradient(model: torch.nn.Module, loss_fn: Callable, batches: list[MicroBatch]) -> dict[str, Tensor]:
    """The mean over batches of one size, each computed in the model's dtype and added up in float32."""
    named = dict(model.named_parameters())
    gradients = [torch.autograd.grad(loss_fn(model(x), y), list(named.values())) for x, y in batches]
    means = [sum(g.float() for g in column).cpu() / len(batches) for column in zip(*gradients, strict=True)]
    return dict(zip(named, means, strict=True))


def _joined(batches: list[MicroBatch]) -> MicroBatch:
    return torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])


def last_only_sums(trial: Float32SumTrial) -> Iterator[dict[str, Tensor]]:
    """The sums if each micro-batch replaces the one before it, with each of :data:`WEIGHTS`."""
    model, loss_fn, batches = trial.build()
    last = _mean_gradient(model, loss_fn, batches[-1:])
    sizes = [len(x) for x, _ in batches]
    for weigh in WEIGHTS.values():
        yield {name: weigh(sizes[-1], sum(sizes), len(sizes)) * gradient for name, gradient in last.items()}


def sums_with_old(trial: Float32SumTrial) -> Iterator[dict[str, Tensor]]:
    """The right sums, with what ``.grad`` held at first added to a micro-batch's gradient, or to the sums."""
    model, _, batches = trial.build()
    sizes = [len(x) for x, _ in batches]
    right = float32_sums(trial)[()]
    old = {name: 0.0 if p.grad is None else p.grad.float().cpu() for name, p in model.named_parameters()}
    for weight in {1.0, *(size / sum(sizes) for size in sizes)}:
        yield {name: total + weight * old[name] for name, total in right.items()}
