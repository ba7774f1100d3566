"""Sums of gradients in float32: those that are due, and those that known mistakes give."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

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


@dataclass(frozen=True)
class _Gradients:
    """The gradients of a trial's micro-batches, each computed in bfloat16.

    Attributes:
        rows: ``(count, P)``, on the CPU and in float32.
        sizes: samples of each micro-batch.
        shapes: of the parameters, by name.
    """

    rows: Tensor
    sizes: tuple[int, ...]
    shapes: dict[str, torch.Size]

    def weights(self, weigh: Callable[[int, int, int], float]) -> Tensor:
        """``(count,)``, the weight of each micro-batch."""
        return torch.tensor([weigh(size, sum(self.sizes), len(self.sizes)) for size in self.sizes])

    def added_up(self, weights: Tensor, start: Tensor | None = None) -> dict[str, Tensor]:
        """Their weighted sum by parameter name, on top of ``start`` if that is given."""
        return self.by_name(weights.to(self.rows) @ self.rows + (0 if start is None else start))

    def by_name(self, flat: Tensor) -> dict[str, Tensor]:
        pieces = flat.split([shape.numel() for shape in self.shapes.values()])
        return {name: piece.view(shape) for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)}


@lru_cache(maxsize=8)  # what is due and what mistakes give are made of the same ones
def _gradients(trial: Float32SumTrial, fused: bool = True) -> _Gradients:
    """The gradients of each micro-batch, one after the other.

    Args:
        trial: what they are the gradients of.
        fused: whether layers add the bias before they round their product, or else after it, as under ``torch.func.vmap``.
    """
    model, loss_fn, batches = trial.build()
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear) and not fused:
            layer.register_forward_hook(lambda layer, inputs, output: inputs[0] @ layer.weight.T + layer.bias)
    named = dict(model.named_parameters())
    each = (torch.autograd.grad(loss_fn(model(x), y), list(named.values())) for x, y in batches)
    rows = torch.stack([torch.cat([gradient.flatten() for gradient in gradients]) for gradients in each])
    return _Gradients(rows.float().cpu(), trial.sizes, {name: parameter.shape for name, parameter in named.items()})


def float32_sums(trial: Float32SumTrial) -> dict[tuple[str, ...], dict[str, Tensor]]:
    """Gradients of each micro-batch in bfloat16, summed in float32 with each of :data:`WEIGHTS`; the right one under ``()``."""
    gradients = _gradients(trial)
    return {slugs: gradients.added_up(gradients.weights(weigh)) for slugs, weigh in WEIGHTS.items()}


def sums_as_if_all_like_first(trial: Float32SumTrial) -> dict[str, Tensor]:
    """The sums if each micro-batch is weighted as if it held as many samples as the first one."""
    gradients = _gradients(trial)
    first = gradients.sizes[0]
    return gradients.added_up(gradients.weights(lambda size, samples, count: first / samples))


def clipped_sums(trial: Float32SumTrial, limit: float, *, whole: bool) -> dict[str, Tensor]:
    """The sums if the gradient of each micro-batch is clipped to a length first: as a ``whole``, or of each parameter."""
    gradients = _gradients(trial)
    parts = [gradients.rows] if whole else gradients.rows.split([shape.numel() for shape in gradients.shapes.values()], dim=1)
    clipped = torch.cat([part * (limit / part.norm(dim=1, keepdim=True)).clamp(max=1.0) for part in parts], dim=1)
    return replace(gradients, rows=clipped).added_up(gradients.weights(WEIGHTS[()]))


def piled_up_sums(trial: Float32SumTrial) -> Iterator[tuple[tuple[str, ...], dict[str, Tensor]]]:
    """Sums of a function that adds ``.grad`` to them after every micro-batch and never clears it; with the mistakes it makes.

    A micro-batch then counts once for itself and once for each that follows; what ``.grad`` held at first may count as well.
    """
    gradients, old = _gradients(trial), _old_gradient(trial)
    count = len(gradients.sizes)
    for slugs, weigh in WEIGHTS.items():
        weights = gradients.weights(weigh)
        of_losses = weights * torch.arange(count, 0, -1), float(count)
        of_sums = weights.flip(0).cumsum(0).flip(0), float(weights.sum())
        for (factors, of_start), stale in itertools.product((of_losses, of_sums), (True, False)):
            yield (*slugs, "gradients-pile-up"), gradients.added_up(factors, of_start * stale * old)


def _old_gradient(trial: Float32SumTrial) -> Tensor:
    """``(P,)``, what ``.grad`` holds at first, on the CPU and in float32."""
    parameters = list(trial.build()[0].parameters())
    return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters]).float().cpu()


def sums_without_fusion(trial: Float32SumTrial) -> dict[str, Tensor]:
    """The sums if layers round their product before they add the bias, as under ``torch.func.vmap``.

    Where a model's outputs happen to be near the targets, this changes the gradient by more than rounding its numbers does.
    """
    gradients = _gradients(trial, fused=False)
    return gradients.added_up(gradients.weights(WEIGHTS[()]))


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
    gradients = _gradients(trial)
    for weigh in WEIGHTS.values():
        yield gradients.by_name(gradients.weights(weigh)[-1] * gradients.rows[-1])


def sums_with_old(trial: Float32SumTrial) -> Iterator[dict[str, Tensor]]:
    """The right sums, with what ``.grad`` held at first added to a micro-batch's gradient, or to the sums."""
    gradients, old = _gradients(trial), _old_gradient(trial)
    weights = gradients.weights(WEIGHTS[()])
    for weight in {1.0, *weights.tolist()}:
        yield gradients.added_up(weights, weight * old)
