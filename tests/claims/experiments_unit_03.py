"""What the sources say about accumulating a gradient, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

import torch
from claim import Claim
from torch import Tensor, nn

from gradaccum.fingerprint import batch_gradient
from gradaccum.loops import no_scale, right
from gradaccum.phenomena.equivalence import Settings, compute
from gradaccum.problems import MicroBatch, Problem
from gradaccum.recording import record

UNIT = "03_accumulate"
ROUNDING = 1e-12
"""In float64; any mistake is above 1e-2."""


def row_1() -> Claim:
    """Do the gradients of small batches, added up, equal that of a large one?"""
    divided = {precision: compute(Settings(precision=precision)).difference for precision in ("float32", "float64")}
    added = compute(Settings(divide=False, precision="float64")).difference
    ragged, batch_norm, layer_norm = mean_of_means(), difference_with(nn.BatchNorm1d(8)), difference_with(nn.LayerNorm(8))
    holds = divided["float64"] < ROUNDING and layer_norm < ROUNDING
    fails = min(added, ragged, batch_norm) > 0.01
    verdict = "conditional" if holds and fails else "true" if holds else "false"
    figure = (
        f"mean loss divided by N: difference {divided['float32']:.0e} in float32, {divided['float64']:.0e} in float64. Not "
        f"divided: {added:.0%}; a mean of means of ragged micro-batches: {ragged:.0%}; with BatchNorm: {batch_norm:.0%}; with "
        f"LayerNorm: {layer_norm:.0e}"
    )
    return Claim(1, "Gradients of several small batches added up equal those of one large batch", verdict, figure, UNIT)


def row_2() -> Claim:
    """Are B = 8, N = 1 and B = 2, N = 4 the same training?"""
    averaged, summed = distance_of_runs(right), distance_of_runs(no_scale)
    smaller_rate = distance_of_runs(no_scale, rate_over_n=True)
    verdict = "conditional" if averaged < ROUNDING < summed and smaller_rate < ROUNDING else "false"
    figure = (
        f"three updates of plain SGD; how far B = 2, N = 4 ends from B = 8, N = 1: {averaged:.0e} averaging, {summed:.0%} "
        f"adding up at the same rate, {smaller_rate:.0e} adding up at the rate over N"
    )
    return Claim(2, "B = 8, N = 1 and B = 2, N = 4 are equivalent", verdict, figure, UNIT)


def row_3() -> Claim:
    """Does backward add to what is in .grad, or replace it?"""
    held = after_each_backward(3)
    verdict = "true" if held == [5.0, 10.0, 15.0] else "false"
    figure = f"the derivative of 5w after one, two and three calls of backward: {', '.join(f'{value:g}' for value in held)}"
    return Claim(3, "backward() adds to .grad", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_1, row_2, row_3)


def mean_of_means() -> float:
    """Difference of a mean of ragged micro-batches' gradients from the gradient of all their samples."""
    problem = Problem(seed=7, epochs=((5, 1, 2, 4),))
    return _difference(problem.build_model(), problem.loss_fn, problem.batches())


def difference_with(norm: nn.Module) -> float:
    """The same for even micro-batches and a model with a normalization in it."""
    problem = Problem(seed=7, epochs=((4, 4, 4, 4),))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), norm, nn.Tanh(), nn.Linear(8, 2)).double()
    return _difference(model, problem.loss_fn, problem.batches())


def _difference(model: nn.Module, loss_fn: Callable[..., Tensor], batches: list[MicroBatch]) -> float:
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    large = batch_gradient(model, loss_fn, (x, y))
    accumulated = torch.stack([batch_gradient(model, loss_fn, batch) for batch in batches]).mean(0)
    return float((accumulated - large).norm() / large.norm())


def distance_of_runs(loop: Callable, *, rate_over_n: bool = False) -> float:
    """How far a loop with B = 2, N = 4 ends from one update for each batch of 8, over the distance the latter goes."""
    large = Problem(seed=3, accumulation_steps=1, epochs=((8, 8, 8),))
    small = large.with_(accumulation_steps=4, epochs=((2,) * 12,), lr=large.lr / (4 if rate_over_n else 1))
    end, due = (record(run, p, frozen=False) for run, p in ((loop, small), (right, large)))
    return float((end.parameters[-1] - due.parameters[-1]).norm() / due.movements.sum(0).norm())


def after_each_backward(calls: int) -> list[float]:
    w = torch.tensor(2.0, requires_grad=True)
    held = []
    for _ in range(calls):
        (5 * w).backward()
        held.append(w.grad.item())
    return held
