"""The gallery of unit 05: a schedule counts updates, and these loops let it count something else.

As in :mod:`gradaccum.loops`, a wrong loop differs from the right one in the one thing its name says. All have the signature
``loop(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps)`` and return the rate of each update.
"""

from __future__ import annotations

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from gradaccum.loops.micro_batches import MicroBatches, Window, samples_in, windows
from gradaccum.problems import LossFn


def scheduled(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def schedule_per_micro_batch(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        for _ in window:
            scheduler.step()
    return rates


def schedule_ahead_per_micro_batch(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    """As above, but the window's own micro-batches have moved the schedule before its update."""
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        for _ in window:
            scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates


def schedule_behind_per_micro_batch(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    """As above, but the update comes before the step for the window's last micro-batch, and after those for the others."""
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        for _ in window[1:]:
            scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def schedule_before_step(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates


def schedule_skips_leftover(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if len(window) == accumulation_steps:
            scheduler.step()
    return rates


def schedule_per_epoch(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    scheduler.step()
    return rates


def schedule_never(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        _accumulate(model, loss_fn, optimizer, window)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates


def schedule_restarts(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: Optimizer,
    scheduler: LRScheduler,
    micro_batches: MicroBatches,
    accumulation_steps: int,
) -> list[float]:
    scheduler.last_epoch = -1
    scheduler.step()
    return scheduled(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps)


def _accumulate(model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, window: Window) -> None:
    optimizer.zero_grad()
    samples = samples_in(window)
    for x, y in window:
        (loss_fn(model(x), y) * len(x) / samples).backward()


WRONG_SCHEDULES = {
    "schedule-per-micro-batch": (
        schedule_per_micro_batch,
        schedule_ahead_per_micro_batch,
        schedule_behind_per_micro_batch,
    ),
    "schedule-before-step": (schedule_before_step,),
    "schedule-skips-leftover": (schedule_skips_leftover,),
    "schedule-per-epoch": (schedule_per_epoch,),
    "schedule-never": (schedule_never,),
    "schedule-restarts": (schedule_restarts,),
}
"""For each mistake with a schedule the loops that make it."""
