"""What is often taken for granted of means over unequal micro-batches, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

import torch
from claim import Claim
from torch import Tensor
from torch.nn import functional as F

from gradaccum.fingerprint import batch_gradient
from gradaccum.loops.tokens import TOKEN_LOOPS, as_loop
from gradaccum.problems.tokens import TokenProblem, one_large_batch
from gradaccum.recording import record

UNIT = "08_unequal_micro_batches"
EQUAL = ((4,), (2, 2), (1, 3), (1, 1, 2))
UNEQUAL = ((1,), (2, 2), (3, 6), (1, 7, 8))
WEIGHT = torch.tensor([1.0, 1.0, 10.0], dtype=torch.float64)
CLASSES = len(WEIGHT)


def row_39() -> Claim:
    """Is the mean of the micro-batches' token means the mean over the window's tokens?"""
    same, off = token_error("token-mean-of-means", EQUAL), token_error("token-mean-of-means", UNEQUAL)
    sequences, right = token_error("sequences-for-tokens", UNEQUAL), token_error("right", UNEQUAL)
    verdict = "only with equal numbers of tokens" if same < 1e-12 < 0.01 < off else "true" if off < 1e-12 else "false"
    figure = (
        f"gradient of a window of 4, against one large batch: {same:.0e} off with equal numbers of tokens; with "
        f"{counts(UNEQUAL)} tokens {off:.0%}, weighted by sequences {sequences:.0%}, by tokens {right:.0e}"
    )
    return Claim(39, "Dividing the mean loss of every micro-batch by N gives the mean over all tokens", verdict, figure, UNIT)


def row_40() -> Claim:
    """Does accumulation with class weights only need micro-batches of one size?"""
    off, by_targets, by_weights = (weighted_error(divide) for divide in ("means", "targets", "weights"))
    verdict = "false" if off > 0.01 and by_weights < 1e-12 else "true" if off < 1e-12 else "conditional"
    figure = (
        f"2 micro-batches of 8 targets, one class weighs {WEIGHT.max():.0f}; gradient against one large batch: mean of means "
        f"{off:.0%} off, sums over the number of targets {by_targets:.0%}, sums over the targets' weights {by_weights:.0e}"
    )
    return Claim(40, "With class weights, micro-batches of equal size may be averaged", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_39, row_40)


def counts(lengths: tuple[tuple[int, ...], ...]) -> str:
    *most, last = map(sum, lengths)
    return f"{', '.join(map(str, most))} and {last}"


def token_error(slug: str, lengths: tuple[tuple[int, ...], ...]) -> float:
    """How far a loop's update on a window is off the gradient of its sequences as one large batch, padded to one length."""
    problem = TokenProblem(seed=3, accumulation_steps=len(lengths), width=8, lengths=(lengths,))
    found = record(as_loop(TOKEN_LOOPS[slug]), problem).gradients[0]
    large = batch_gradient(problem.build_model(), problem.loss_fn, one_large_batch(problem.batches()))
    return float((found - large).norm() / large.norm())


def weighted_error(divide: str) -> float:
    """How far the gradient of a window of two micro-batches is off the large batch's, with weights for classes.

    Args:
        divide: ``"means"``: the mean of the micro-batches' own means; ``"targets"``, ``"weights"``: their sums, over that.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(16, 5, generator=generator, dtype=torch.float64)
    y = torch.tensor([0, 1] * 4 + [0, 1, 2, 2] * 2)
    w = torch.randn(5, CLASSES, generator=generator, dtype=torch.float64, requires_grad=True)
    denominator = {"means": 2.0, "targets": len(y), "weights": WEIGHT[y].sum()}[divide]
    reduction = "mean" if divide == "means" else "sum"

    def gradient(loss: Tensor) -> Tensor:
        return torch.autograd.grad(loss, w)[0]

    parts = zip(x.split(8), y.split(8), strict=True)
    found = sum(gradient(F.cross_entropy(a @ w, b, WEIGHT, reduction=reduction) / denominator) for a, b in parts)
    large = gradient(F.cross_entropy(x @ w, y, WEIGHT))
    return float((found - large).norm() / large.norm())
