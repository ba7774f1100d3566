"""Trainers on two ranks, right and wrong, that watching is tried on.

A trainer is a function of a model and a rank; whatever it needs it makes itself. ``@right`` ones are due when the ranks are
joined, ``@wrong(slug)`` ones have this mistake.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

N, RANKS, WORDS = 4, 2, 7


@dataclass(frozen=True)
class Trainer:
    """``want`` is ``"due"``, ``"cannot tell"``, or a slug."""

    run: Callable[[nn.Module, int], object]
    want: str
    parallel: bool = True
    steps: int = 4


TRAINERS: dict[str, Trainer] = {}


def _enter(want: str, **options: object) -> Callable:
    def add(run: Callable) -> Callable:
        TRAINERS[run.__name__] = Trainer(run, want, **options)
        return run

    return add


right = _enter("due")
wrong = _enter


def model() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Embedding(WORDS, 6), nn.Dropout(0.1), nn.Linear(6, WORDS))


def windows(rank: int, leftover: int = 2) -> list[list[tuple[Tensor, Tensor]]]:
    """Windows of 4, 4 and a few micro-batches of two sequences; ranks have different tokens, and differently many."""
    draw = torch.Generator().manual_seed(10 + rank)
    found = []
    for width in (N, N, leftover):
        tokens = [torch.randint(0, WORDS, (2, 4 + rank), generator=draw) for _ in range(width)]
        lengths = [torch.randint(1, 5 + rank, (2, 1), generator=draw) for _ in range(width)]
        found.append([(x, x.where(torch.arange(4 + rank) < length, -100)) for x, length in zip(tokens, lengths, strict=True)])
    return found


def tokens_in(window: list[tuple[Tensor, Tensor]]) -> int:
    return sum(int((y != -100).sum()) for _, y in window)


def on_all(count: int) -> int:
    total = torch.tensor(count)
    dist.all_reduce(total)
    return int(total)


def summed(m: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="sum")


def at_its_end(k: int, window: list) -> bool:
    return k == len(window) - 1


def train(m: nn.Module, data, loss_of: Callable, syncs=at_its_end, before_step=lambda m: None) -> None:
    """An update for each window; ``loss_of(m, x, y, window)`` goes backward, and averages where ``syncs(k, window)``."""
    optimizer = torch.optim.AdamW(m.parameters(), 1e-2)
    for window in data:
        for k, (x, y) in enumerate(window):
            quiet = contextlib.nullcontext() if syncs(k, window) or not hasattr(m, "no_sync") else m.no_sync()
            with quiet:
                loss_of(m, x, y, window).backward()
        before_step(m)
        optimizer.step()
        optimizer.zero_grad()


def by_all_tokens(data):
    """Losses divided by the tokens that all ranks have in a window, and multiplied by the ranks that will be averaged over."""
    totals = {id(window): on_all(tokens_in(window)) for window in data}
    return lambda m, x, y, window: summed(m, x, y) * RANKS / totals[id(window)]


def even(m, x, y, window):
    """Micro-batches of one size: their means over their number."""
    return F.mse_loss(m(x[:, :3]).mean(1), torch.ones(2, WORDS)) / len(window)


@right
def tokens_of_all_ranks(m, rank):
    data = windows(rank)
    train(m, data, by_all_tokens(data))


@right
def fewer_micro_batches_on_one_rank(m, rank):
    data = windows(rank, leftover=2 - rank)
    train(m, data, by_all_tokens(data))


@right
def samples_of_one_number(m, rank):
    train(m, windows(rank), even)


@right
def gradients_averaged_after_every_backward(m, rank):
    data = windows(rank)
    train(m, data, by_all_tokens(data), syncs=lambda k, window: True)


@right
def no_sync_around_the_backward_only(m, rank):
    data = windows(rank)
    loss_of = by_all_tokens(data)
    optimizer = torch.optim.SGD(m.parameters(), 1e-2)
    for window in data:
        for k, (x, y) in enumerate(window):
            loss = loss_of(m, x, y, window)
            with contextlib.nullcontext() if k == len(window) - 1 else m.no_sync():
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@_enter("due", steps=1)
def clipped_and_without_no_sync_in_windows_of_one(m, rank):
    data = [[pair] for window in windows(rank) for pair in window]
    train(m, data, by_all_tokens(data), before_step=lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.1))


def reduced(share: float) -> Callable[[nn.Module], None]:
    def reduce(m: nn.Module) -> None:
        for parameter in m.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad.mul_(share)

    return reduce


@_enter("due", parallel=False)
def gradients_averaged_by_hand(m, rank):
    train(m, windows(rank), even, before_step=reduced(1 / RANKS))


@_enter("due", parallel=False)
def gradients_added_up_by_hand_and_divided_by_all_tokens(m, rank):
    data = windows(rank)
    loss_of = by_all_tokens(data)
    train(m, data, lambda *given: loss_of(*given) / RANKS, before_step=reduced(1.0))


@wrong("rank-sum", parallel=False)
def gradients_added_up_by_hand(m, rank):
    train(m, windows(rank), even, before_step=reduced(1.0))


@wrong("world-twice")
def divided_by_the_ranks_as_well(m, rank):
    data = windows(rank)
    loss_of = by_all_tokens(data)
    train(m, data, lambda *given: loss_of(*given) / RANKS)


@wrong("world-twice")
def means_divided_by_the_ranks_as_well(m, rank):
    train(m, windows(rank), lambda *given: even(*given) / RANKS)


@wrong("local-tokens-only")
def tokens_of_its_own_rank(m, rank):
    train(m, windows(rank), lambda m, x, y, window: summed(m, x, y) / tokens_in(window))


@wrong("token-mean-of-means")
def means_over_tokens(m, rank):
    train(m, windows(rank), lambda m, x, y, window: summed(m, x, y) / tokens_in([(x, y)]) / len(window))


@wrong("no-scale")
def never_divided(m, rank):
    train(m, windows(rank), lambda m, x, y, window: even(m, x, y, window) * len(window))


@wrong("tail-scale")
def leftover_divided_by_n(m, rank):
    train(m, windows(rank), lambda m, x, y, window: even(m, x, y, window) * len(window) / N)


@wrong("sync-wrong-one")
def averaged_at_the_first_micro_batch(m, rank):
    train(m, windows(rank), even, syncs=lambda k, window: k == 0)


@wrong("windows-not-synced")
def leftover_not_averaged(m, rank):
    train(m, windows(rank), even, syncs=lambda k, window: k == N - 1)


@wrong("zero-every")
def cleared_before_every_backward(m, rank):
    def loss_of(m, x, y, window):
        m.zero_grad()
        return even(m, x, y, window)

    train(m, windows(rank), loss_of)


@wrong("cannot tell", parallel=False)
def each_rank_a_model_of_its_own(m, rank):
    train(m, windows(rank), even)


def wrapped(trainer: Trainer, inner: nn.Module) -> nn.Module:
    return DistributedDataParallel(inner) if trainer.parallel else inner
