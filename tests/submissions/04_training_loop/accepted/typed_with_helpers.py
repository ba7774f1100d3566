"""Type hints, dataclasses, helper functions and imports of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, nn

EXERCISE = "train_epoch"

MicroBatch: TypeAlias = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Window:
    batches: tuple[MicroBatch, ...]

    @property
    def samples(self) -> int:
        return sum(len(x) for x, _ in self.batches)

    def weighted(self) -> Iterator[tuple[float, Tensor, Tensor]]:
        yield from ((len(x) / self.samples, x, y) for x, y in self.batches)


def windows(micro_batches: Iterable[MicroBatch], n: int) -> Iterator[Window]:
    stream = iter(micro_batches)
    yield from map(Window, iter(lambda: tuple(itertools.islice(stream, n)), ()))


def train_epoch(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    micro_batches: Iterable[MicroBatch],
    accumulation_steps: int,
    *,
    set_to_none: bool = True,
) -> list[float]:
    losses: list[float] = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad(set_to_none=set_to_none)
        terms = []
        for weight, x, y in window.weighted():
            term: Tensor = weight * loss_fn(model(x), y)
            term.backward()
            terms.append(term.detach())
        optimizer.step()
        losses.append(torch.stack(terms).sum().item())
    return losses
