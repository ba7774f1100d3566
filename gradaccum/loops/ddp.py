"""The gallery of loops for several ranks: the right one, and wrong ones as a student might have written them.

``model`` is wrapped in DistributedDataParallel: unless its ``no_sync`` is on, a backward averages ``.grad`` over all ranks.
It is the *forward* that looks up whether it is on. ``micro_batches`` are this rank's own.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch.distributed as dist
from torch.optim import Optimizer

from gradaccum.loops.micro_batches import MicroBatches, samples_in, windows
from gradaccum.problems import LossFn

if TYPE_CHECKING:
    from torch.nn.parallel import DistributedDataParallel


def right_ddp(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """One all-reduce per window: forward and backward of all but its last micro-batch inside no_sync."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def sync_every(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: an all-reduce for every micro-batch; the numbers are right."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def sync_around_backward_only(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: no_sync comes too late, because the forward is over already; an all-reduce for every micro-batch."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for k, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y) * len(x) / samples
            with nullcontext() if k == len(window) else model.no_sync():
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def never_sync(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: every rank trains for itself."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            with model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def sync_wrong_one(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: the first micro-batch of a window is shared, what comes after it is not."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for k, (x, y) in enumerate(window):
            with nullcontext() if k == 0 else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def tail_not_synced(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: the N-th micro-batch of a window is shared, and a leftover window has none."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == accumulation_steps else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def rank_sum(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: gradients of the ranks are added up, not averaged."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            loss = loss_fn(model.module(x), y) * len(x) / samples
            loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
    optimizer.zero_grad()


def rank_divided_twice(
    model: DistributedDataParallel, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    """WRONG: the loss is divided by the number of ranks, and then DistributedDataParallel averages over them."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window) * dist.get_world_size()
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


DDP_GALLERY = {
    "right": right_ddp,
    "sync-every": sync_every,
    "sync-around-backward-only": sync_around_backward_only,
    "never-sync": never_sync,
    "sync-wrong-one": sync_wrong_one,
    "tail-not-synced": tail_not_synced,
    "rank-sum": rank_sum,
    "rank-divided-twice": rank_divided_twice,
}
"""Loops by the slug of their mistake; ``"right"`` is the right one."""
