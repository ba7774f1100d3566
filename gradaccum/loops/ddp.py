"""The gallery of loops for several ranks: the right one, and wrong ones as a student might have written them.

``model`` is wrapped in DistributedDataParallel: unless its ``no_sync`` is on, a backward averages ``.grad`` over all ranks.
Whether it is on, is looked up in the *forward*. ``micro_batches`` are this rank's own.
"""

from __future__ import annotations

from contextlib import nullcontext

import torch.distributed as dist

from gradaccum.loops import windows


def right_ddp(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """One all-reduce per window: forward and backward of all but its last micro-batch inside no_sync."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def sync_every(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: an all-reduce for every micro-batch; the numbers are right."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def sync_around_backward_only(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: no_sync comes too late, for the forward has been through already; an all-reduce for every micro-batch."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y) * len(x) / samples
            with nullcontext() if k == len(window) else model.no_sync():
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def never_sync(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: every rank trains for itself."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def sync_wrong_one(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: the first micro-batch of a window is shared, what comes after it is not."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window):
            with nullcontext() if k == 0 else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def tail_not_synced(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: the N-th micro-batch of a window is shared, and a leftover window has none."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == accumulation_steps else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()


def rank_sum(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: gradients of the ranks are added up, not averaged."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model.module(x), y) * len(x) / samples
            loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
    optimizer.zero_grad()


def rank_divided_twice(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """WRONG: the loss is divided by the number of ranks, and then DistributedDataParallel averages over them."""
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window) * dist.get_world_size()
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
"""By slug; ``"right"`` is no mistake."""
