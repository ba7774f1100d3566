"""What the sources say about clipping, mixed precision and rounding, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

import torch
from claim import Claim
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from gradaccum.fingerprint import batch_gradient
from gradaccum.phenomena.order_of_operations import PRESETS, RIGHT, STEPS, Settings, compute
from gradaccum.problems import Problem, flat_gradient

UNIT = "06_mixed_precision_and_clipping"
WINDOW = Problem(seed=6, accumulation_steps=4, epochs=((2, 2, 2, 2),))


def row_17() -> Claim:
    """Where does clipping belong, and does its threshold need adjustment?"""
    due = large_batch_clipped(0.5)
    averaged, summed = clipped_window(4, 0.5), clipped_window(1, 4 * 0.5) / 4
    unadjusted, pieces = clipped_window(1, norm_between()) / 4, clipped_window(4, 0.5, each=True)
    after = same(averaged, due) and not same(pieces, due)
    adjusted = same(summed, due) and not same(unadjusted, large_batch_clipped(norm_between()))
    verdict = "true, and the threshold can be said" if after and adjusted else "true" if after else "false"
    figure = (
        f"against a clipped large batch: averaged, same threshold {difference(averaged, due):.0e} off; summed, 4 times the "
        f"threshold {difference(summed, due):.0e}; clipped after each micro-batch {difference(pieces, due):.0%}"
    )
    return Claim(17, "Clip after accumulating; the threshold may need adjustment", verdict, figure, UNIT)


def row_18() -> Claim:
    """Does mixed precision work with accumulation as without?"""
    chains = {chain: compute(Settings(chain=chain)) for chain in Settings.__dataclass_fields__["chain"].metadata["choices"]}
    right, overflow = compute(Settings(chain=RIGHT)), compute(PRESETS["Overflow"])
    wrong = {chain: result for chain, result in chains.items() if not result.right}
    care = right.right and len(wrong) > 0
    whole = overflow.skipped and overflow.scale < overflow.settings.scale
    verdict = "needs care" if care and whole else "true" if not wrong else "conditional"
    grows = chains["the scale grows in between, then as usual"]
    moved = float((grows.update - grows.due).norm() / grows.due.norm())
    figure = (
        f"{len(wrong)} of {len(chains)} orders of the same operations give another update: clipped before unscaling it is "
        f"{float(chains['clip, unscale, step, update'].update.norm()):.1g} long where {float(right.due.norm()):.2g} was due, "
        f"with a scale that moves inside the window {moved:.0%} off; one overflow skips all {STEPS} micro-batches"
    )
    return Claim(18, "Mixed precision works identically with accumulation", verdict, figure, UNIT)


def row_19() -> Claim:
    """Do many small micro-batches lose precision?"""
    counts = (4, 64, 1024)
    low = [rounding(n, torch.bfloat16) for n in counts]
    single = [rounding(n, torch.float32) for n in counts]
    verdict = "in low-precision sums only" if max(single) < 1e-5 < 1e-2 < low[-1] else "true" if max(single) > 1e-5 else "false"
    figure = (
        f"bfloat16 gradients of N = 4, 64, 1024 micro-batches, added up in bfloat16: {', '.join(f'{e:.2%}' for e in low)} off; "
        f"in float32: {max(single):.0e} at most"
    )
    return Claim(19, "Very small micro-batches accumulate numerical error", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_17, row_18, row_19)


def clipped_window(divide_by: float, max_norm: float, each: bool = False) -> Tensor:
    """The gradient of a window, clipped when it is complete, or after each micro-batch."""
    model = WINDOW.build_model()
    batches = WINDOW.batches()
    for k, (x, y) in enumerate(batches, 1):
        (WINDOW.loss_fn(model(x), y) / divide_by).backward()
        if each or k == len(batches):
            clip_grad_norm_(model.parameters(), max_norm)
    return flat_gradient(model)


def large_batch() -> Tensor:
    x, y = (torch.cat(parts) for parts in zip(*WINDOW.batches(), strict=True))
    return batch_gradient(WINDOW.build_model(), WINDOW.loss_fn, (x, y))


def large_batch_clipped(max_norm: float) -> Tensor:
    gradient = large_batch()
    return gradient * min(1.0, max_norm / float(gradient.norm()))


def norm_between() -> float:
    """A threshold that the mean is below and the sum above."""
    return 2 * float(large_batch().norm())


def difference(found: Tensor, due: Tensor) -> float:
    return float((found - due).norm() / due.norm())


def same(found: Tensor, due: Tensor) -> bool:
    """Up to the 1e-6 that ``clip_grad_norm_`` adds to a norm."""
    return difference(found, due) < 1e-5


def rounding(count: int, dtype: torch.dtype) -> float:
    """Relative error of a sum, kept in ``dtype``, of bfloat16 gradients of micro-batches of two, against their float64 sum."""
    problem = Problem(seed=8, accumulation_steps=count, epochs=((2,) * count,), dtype="float32")
    model = problem.build_model().bfloat16()
    total, exact = 0, 0
    for x, y in problem.batches():
        loss = problem.loss_fn(model(x.bfloat16()), y.bfloat16())
        gradient = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
        total, exact = total + gradient.to(dtype), exact + gradient.double()
    return difference(total.double(), exact)
