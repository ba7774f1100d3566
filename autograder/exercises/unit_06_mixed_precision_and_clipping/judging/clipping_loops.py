"""One loop that clips or scales in any of the ways of :mod:`.clipping_variants`, right or wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_variants import ClippingVariant
from gradaccum.loops import windows
from gradaccum.problems import MicroBatch

Loss = Callable[[Tensor, Tensor], Tensor]


@cache  # one loop for each variant, so that what it does on a trial is found again
def clipped_loop(variant: ClippingVariant) -> Callable[..., list[float]]:
    """A ``train_epoch_clipped`` that goes about it in this way."""
    return partial(_play_clipped, variant)


@cache
def amp_loop(variant: ClippingVariant) -> Callable[..., list[float]]:
    """A ``train_epoch_amp`` that goes about it in this way."""
    return partial(play, variant)


def _play_clipped(
    variant: ClippingVariant,
    model: nn.Module,
    loss_fn: Loss,
    optimizer: torch.optim.Optimizer,
    micro_batches: Iterable[MicroBatch],
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    scaler = GradScaler(enabled=False)
    return play(variant, model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, None)


def play(
    variant: ClippingVariant,
    model: nn.Module,
    loss_fn: Loss,
    optimizer: torch.optim.Optimizer,
    scaler: GradScaler,
    micro_batches: Iterable[MicroBatch],
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype | None,
) -> list[float]:
    """Train for one epoch in this way, in the model's own precision if ``dtype`` is None.

    Returns:
        The norm of the gradient at each update.
    """
    norms: list[float] = []
    spoilt = False
    for window in windows(micro_batches, accumulation_steps):
        if variant.clear == "start" and not spoilt:
            optimizer.zero_grad()
        weights = _weights(variant.weight, [len(x) for x, _ in window], accumulation_steps)
        groups = [[pair] for pair in zip(window, weights, strict=True)]
        groups = groups if variant.width == "every" else [[pair for group in groups for pair in group]]
        for group in groups:
            if variant.width == "every":
                optimizer.zero_grad()
            _accumulate(variant, model, loss_fn, optimizer, scaler, group, max_norm, dtype)
            if len(window) == accumulation_steps or variant.tail == "applied":
                limit = _thresholds(max_norm, [len(x) for x, _ in window], accumulation_steps).get(variant.clip, torch.inf)
                norms.append(_apply(variant, model, optimizer, scaler, max_norm, limit))
                spoilt = variant.infinite == "kept" and not math.isfinite(norms[-1])
                if variant.clear == "end" and not spoilt:
                    optimizer.zero_grad()
    return norms


def _accumulate(
    variant: ClippingVariant,
    model: nn.Module,
    loss_fn: Loss,
    optimizer: torch.optim.Optimizer,
    scaler: GradScaler,
    group: list[tuple[MicroBatch, float]],
    max_norm: float,
    dtype: torch.dtype | None,
) -> None:
    """Forward and backward for some micro-batches with their weights."""
    for k, ((x, y), weight) in enumerate(group):
        last = k + 1 == len(group)
        if variant.clear == "every":
            optimizer.zero_grad()
        with torch.autocast(x.device.type, dtype=dtype, enabled=dtype is not None):
            loss = loss_fn(model(x), y) * weight
        if variant.infinite == "left out" and not torch.isfinite(loss):
            continue
        if variant.clip == "early" or (variant.clip == "one early" and last):
            clip_grad_norm_(model.parameters(), max_norm)
        (scaler.scale(loss) if variant.scale else loss).backward()
        if variant.clip == "micro-batch":
            clip_grad_norm_(model.parameters(), max_norm)
        if variant.unscale == "each":
            scaler.unscale_(optimizer)
            if not last:
                scaler.update()
        if variant.update == "each":
            scaler.update(scaler.get_scale() * 2)


def _thresholds(max_norm: float, sizes: list[int], steps: int) -> dict[str, float]:
    """The threshold for a whole window by ``ClippingVariant.clip``, where it has one."""
    present = len(sizes)
    limits = {"once": max_norm, "scaled": max_norm, "full": max_norm if present == steps else torch.inf}
    return limits | {"high": max_norm * present, "low": max_norm / present, "low samples": max_norm / sum(sizes)}


def _apply(
    variant: ClippingVariant,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: GradScaler,
    max_norm: float,
    limit: float,
) -> float:
    """Clip and update; the norm of the gradient before, or NaN if there is no update."""
    if variant.infinite == "skipped" and not all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None):
        return float("nan")
    if variant.clip == "scaled":
        norm = clip_grad_norm_(model.parameters(), limit)
    if variant.unscale == "once":
        scaler.unscale_(optimizer)
    if variant.clip != "scaled":
        norm = clip_grad_norm_(model.parameters(), limit)
    if variant.clip == "always":
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter.grad *= max_norm / norm
    if variant.clip == "each":
        for parameter in model.parameters():
            clip_grad_norm_([parameter], max_norm)
    if variant.clip == "value":
        clip_grad_value_(model.parameters(), max_norm)
    if variant.step in ("scaler", "both"):
        scaler.step(optimizer)
    if variant.step in ("plain", "both"):
        optimizer.step()
    if variant.update != "never":
        scaler.update()
    return float(norm)


def _weights(kind: str, sizes: list[int], steps: int) -> list[float]:
    samples, present = sum(sizes), len(sizes)
    weigh = {
        "share": lambda size: size / samples,
        "mean": lambda size: 1 / present,
        "steps": lambda size: 1 / steps,
        "tail": lambda size: size * present / samples / steps,
        "one": lambda size: 1.0,
        "sum": lambda size: float(size),
        "twice": lambda size: size / samples / present,
    }[kind]
    return [weigh(size) for size in sizes]
