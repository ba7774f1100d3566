"""The fingerprint of a training loop: which micro-batch gradients are in each of its updates, and how much of each.

Freeze the parameters and let a loop run. If the loop is linear, ``.grad`` at update u is a combination of the
micro-batch gradients, ``sum_k c[u, k] * g_k``. The g_k of a :class:`~gradaccum.problems.Problem` are linearly independent, so
least squares recovers c exactly. A residual that is not rounding says that the loop is *not* linear in the g_k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from gradaccum.problems import LossFn, MicroBatch, Problem, flat_gradient, trainable
from gradaccum.recording import Loop, Recording, record

LINEAR = 1e-5
"""Relative residual up to which a loop counts as linear. In float64 rounding leaves about 1e-15 times the condition number
of the basis (about 100 for the problems used here), a loop that sums in float32 buffers about 1e-7; clipping, BatchNorm or
evaluation mode leave more than 1e-2."""


@dataclass(frozen=True)
class Fingerprint:
    """Coefficients of micro-batch gradients in updates.

    Attributes:
        coefficients: ``(U, K)``, one row per update, one column per micro-batch.
        residuals: ``(U,)``, the part of each update that no combination explains, relative to the update's size; infinite
            for an update that is not a finite number, whose coefficients are 0.
        rates: ``(U,)``, the learning rate each update used over the one it was given (1 unless the loop changed it).
        row_epochs: ``U`` numbers, the epoch of each update.
        columns: ``K`` pairs (epoch, size), the micro-batches.
        stale: ``(U,)``, coefficient of what ``.grad`` held before the run, or None if it held nothing.
        before: how many updates, and micro-batches, came before the first row and the first column.
    """

    coefficients: Tensor
    residuals: Tensor
    rates: Tensor
    row_epochs: tuple[int, ...]
    columns: tuple[tuple[int, int], ...]
    stale: Tensor | None = None
    before: tuple[int, int] = (0, 0)

    @property
    def linear(self) -> bool:
        return bool((self.residuals < LINEAR).all())

    def same_as(self, other: Fingerprint, tolerance: float = 1e-4) -> bool:
        """Whether two fingerprints agree. Those of different loops differ by more than 1e-2, rounding is below 1e-5."""
        if self.row_epochs != other.row_epochs or self.columns != other.columns or self.linear != other.linear:
            return False
        mine, theirs = (torch.cat([f.coefficients, f.rates[:, None], f._stale()[:, None]], 1) for f in (self, other))
        return torch.allclose(mine, theirs, rtol=0, atol=tolerance)

    def beginning(self, updates: int) -> Fingerprint:
        """The first rows only."""
        return self.part(slice(updates), slice(None))

    def part(self, rows: slice, columns: slice) -> Fingerprint:
        """These rows and columns only."""
        stale = None if self.stale is None else self.stale[rows]
        numbers = self.coefficients[rows, columns], self.residuals[rows], self.rates[rows]
        before = self.before[0] + (rows.start or 0), self.before[1] + (columns.start or 0)
        return Fingerprint(*numbers, self.row_epochs[rows], self.columns[columns], stale, before)

    def _stale(self) -> Tensor:
        return torch.zeros_like(self.rates) if self.stale is None else self.stale

    def as_text(self) -> str:
        """The matrix in plain text, fractions where they are simple."""
        if not len(self.coefficients):
            return "(no update)"
        numbers = self.coefficients
        if self.stale is not None and bool(self.stale.abs().max() > 1e-9):
            numbers = torch.cat([self.stale[:, None], numbers], dim=1)
        rows = [[as_fraction(value) or "·" for value in row] for row in numbers.tolist()]
        width = max(len(cell) for cells in rows for cell in cells)
        return "\n".join(
            f"update {u:>2}  " + " ".join(c.rjust(width) for c in cells) for u, cells in enumerate(rows, 1 + self.before[0])
        )


def fingerprint(loop: Loop, problem: Problem) -> Fingerprint:
    """Run ``loop`` on ``problem`` with frozen parameters and read its fingerprint.

    Raises:
        ValueError: the problem's micro-batch gradients are not linearly independent.
        Exception: whatever the loop raises.
    """
    return read(record(loop, problem), problem)


def read(recording: Recording, problem: Problem) -> Fingerprint:
    """The fingerprint of a recording made with frozen parameters."""
    return solve(recording.gradients, recording.movements / problem.lr, recording.update_epochs, problem)


def solve(
    gradients: Tensor,
    movements: Tensor,
    row_epochs: Sequence[int],
    problem: Problem,
    *,
    training: bool = True,
    among: Tensor | None = None,
) -> Fingerprint:
    """The fingerprint of bare numbers.

    Args:
        gradients: ``(U, P)``, what ``.grad`` held at each update.
        movements: ``(U, P)``, how far each update moved the parameters, divided by the learning rate.
        row_epochs: the epoch of each update.
        training: whether to explain them by gradients taken in training mode.
        among: ``(P,)`` truth values, the entries of the gradient to look at; all if not given.

    Raises:
        ValueError: the micro-batch gradients are not linearly independent, or not among these entries.
    """
    columns = micro_batch_columns(problem)
    basis = micro_batch_gradients(problem, training=training)
    gradients, movements = gradients.to(basis), movements.to(basis)
    if among is not None:
        basis, gradients, movements = basis[:, among], gradients[:, among], movements[:, among]
        _check_independent(basis, problem)
    finite = gradients.norm(dim=1).isfinite() & movements.norm(dim=1).isfinite()
    gradients, movements = gradients.where(finite[:, None], 0), movements.where(finite[:, None], 0)
    coefficients = torch.linalg.lstsq(basis.T, gradients.T).solution.T
    error = (gradients - coefficients @ basis).norm(dim=1)
    size = gradients.norm(dim=1)
    residuals = torch.where(size > 0, error / size.clamp_min(1e-300), torch.zeros_like(size)).where(finite, torch.inf)
    overlap = (gradients * movements).sum(1)
    rates = torch.where(size > 0, overlap / size.square().clamp_min(1e-300), torch.ones_like(size))
    stale = coefficients[:, -1] if problem.stale else None
    return Fingerprint(coefficients[:, : len(columns)], residuals, rates, tuple(row_epochs), columns, stale)


def expected(problem: Problem) -> Fingerprint:
    """The fingerprint of a right loop: in each window every micro-batch weighs by its share of the window's samples."""
    columns = micro_batch_columns(problem)
    rows, row_epochs, start = [], [], 0
    for epoch, sizes in enumerate(problem.epochs):
        for first in range(0, len(sizes), problem.accumulation_steps):
            window = torch.tensor(sizes[first : first + problem.accumulation_steps], dtype=torch.float64)
            row = torch.zeros(len(columns), dtype=torch.float64)
            row[start + first : start + first + len(window)] = window / window.sum()
            rows.append(row)
            row_epochs.append(epoch)
        start += len(sizes)
    coefficients = torch.stack(rows)
    zeros, ones = torch.zeros(len(rows), dtype=torch.float64), torch.ones(len(rows), dtype=torch.float64)
    return Fingerprint(coefficients, zeros, ones, tuple(row_epochs), columns, zeros if problem.stale else None)


def micro_batch_columns(problem: Problem) -> tuple[tuple[int, int], ...]:
    """The columns of the problem's fingerprints: for each micro-batch its epoch and its size."""
    return tuple((epoch, size) for epoch, sizes in enumerate(problem.epochs) for size in sizes)


def micro_batch_gradients(problem: Problem, *, training: bool = True) -> Tensor:
    """The rows ``(K, P)`` every update is expressed in: one gradient per micro-batch, then the stale one if there is one.

    On the CPU, like all of a fingerprint, wherever the problem is.

    Raises:
        ValueError: they are not linearly independent.
    """
    model = problem.build_model().train(training)
    stale = flat_gradient(model)
    rows = [batch_gradient(model, problem.loss_fn, b) for e in range(len(problem.epochs)) for b in problem.batches(e)]
    basis = torch.stack([*rows, stale] if problem.stale else rows).cpu()
    _check_independent(basis, problem)
    return basis


def _check_independent(basis: Tensor, problem: Problem) -> None:
    if len(basis) > basis.shape[1] or torch.linalg.matrix_rank(basis) < len(basis):
        raise ValueError(f"the {len(basis)} micro-batch gradients of {problem} are not linearly independent; use a wider model")


def batch_gradient(model: torch.nn.Module, loss_fn: LossFn, batch: MicroBatch) -> Tensor:
    """Gradient of the batch loss as one vector of length P; leaves ``.grad`` alone."""
    x, y = batch
    parameters = trainable(model)
    gradients = torch.autograd.grad(loss_fn(model(x), y), parameters, allow_unused=True)
    pairs = zip(gradients, parameters, strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).reshape(-1) for g, p in pairs])


def as_fraction(value: float) -> str:
    """``0.25`` as ``"1/4"``, ``0`` as ``""``; three digits where no simple fraction fits, or ``"inf"`` or ``"nan"``."""
    if abs(value) < 1e-6:
        return ""
    if not math.isfinite(value):
        return f"{value:g}"
    fraction = Fraction(value).limit_denominator(32)
    if abs(float(fraction) - value) < 1e-6:
        return str(fraction)
    return f"{round(value, 9):.3g}"  # noise in the last bit must not decide where a tie goes
