"""What the loops of the galleries work on: micro-batches, cut into windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from torch import Tensor

from gradaccum.problems import MicroBatch

MicroBatches = Iterable[MicroBatch]
Window = list[MicroBatch]

T = TypeVar("T")


def windows(micro_batches: Iterable[T], accumulation_steps: int) -> Iterator[list[T]]:
    """Cut a stream of micro-batches into lists of N; the last one, the leftover, may be shorter."""
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        yield window


def samples_in(window: Iterable[tuple[Tensor, object]]) -> int:
    """How many samples the micro-batches of a window have together."""
    return sum(len(x) for x, _ in window)
