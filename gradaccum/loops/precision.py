"""The gallery of unit 06: what must happen once per window when gradients are clipped or computed in mixed precision.

As in :mod:`gradaccum.loops`, a wrong loop differs from the right one in the one thing its name says. Clipping loops have the
signature ``loop(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm)``, those with a scaler
``loop(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype)``. All return the gradient norm
before clipping, one number for each window.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import Optimizer

from gradaccum.loops.micro_batches import MicroBatches, Window, samples_in, windows
from gradaccum.problems import LossFn


def clipped(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate(model, loss_fn, window)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    return norms


def clip_per_micro_batch(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
            norm = clip_grad_norm_(model.parameters(), max_norm)
        norms.append(float(norm))
        optimizer.step()
    return norms


def not_clipped(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate(model, loss_fn, window)
        optimizer.step()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
    return norms


def clip_too_early(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            norm = clip_grad_norm_(model.parameters(), max_norm)
            loss.backward()
        norms.append(float(norm))
        optimizer.step()
    return norms


def clip_by_value(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate(model, loss_fn, window)
        norms.append(float(clip_grad_norm_(model.parameters(), float("inf"))))
        clip_grad_value_(model.parameters(), max_norm)
        optimizer.step()
    return norms


def amp(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate_scaled(model, loss_fn, scaler, window, dtype)
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    return norms


def clip_before_unscale(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate_scaled(model, loss_fn, scaler, window, dtype)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    return norms


def unscale_missing(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate_scaled(model, loss_fn, scaler, window, dtype)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    return norms


def scaler_step_every(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        for x, y in window:
            optimizer.zero_grad()
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) / accumulation_steps
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(optimizer)
            scaler.update()
        norms.append(float(norm))
    return norms


def scaler_update_every(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
            scaler.update(scaler.get_scale() * 2)
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    return norms


def unscale_each(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for k, (x, y) in enumerate(window):
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            if k + 1 < len(window):
                scaler.update()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    return norms


def inf_applied(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scaler: GradScaler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype,
) -> list[float]:
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        _accumulate_scaled(model, loss_fn, scaler, window, dtype)
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
        scaler.update()
    return norms


def _accumulate(model: nn.Module, loss_fn: LossFn, window: Window) -> None:
    samples = samples_in(window)
    for x, y in window:
        (loss_fn(model(x), y) * len(x) / samples).backward()


def _accumulate_scaled(model: nn.Module, loss_fn: LossFn, scaler: GradScaler, window: Window, dtype: torch.dtype) -> None:
    samples = samples_in(window)
    for x, y in window:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) * len(x) / samples
        scaler.scale(loss).backward()


CLIPPING = {
    loop.__name__.replace("_", "-"): loop
    for loop in (clipped, clip_per_micro_batch, not_clipped, clip_too_early, clip_by_value)
}
"""Clipping loops by slug; ``"clipped"`` is the right one."""

AMP = {
    loop.__name__.replace("_", "-"): loop
    for loop in (amp, clip_before_unscale, unscale_missing, unscale_each, scaler_step_every, scaler_update_every, inf_applied)
}
"""Mixed-precision loops by slug; ``"amp"`` is the right one."""
