"""Loops over micro-batches of tokens: the right one and the ones that count something else.

Each is a short function a student could have written, with the signature
``loop(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100)``; it returns the loss of each window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer

from gradaccum.loops.micro_batches import MicroBatches, windows
from gradaccum.problems import LossFn
from gradaccum.recording import Loop

Model = Callable[[Tensor], Tensor]
"""From tokens ``(sequences, positions)`` to logits ``(sequences, positions, vocabulary)``."""


def token_mean(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    losses = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        tokens = sum(int((targets != ignore_index).sum()) for _, targets in window)
        total = 0.0
        for x, targets in window:
            loss = cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            (loss / max(tokens, 1)).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / max(tokens, 1))
    optimizer.zero_grad()
    return losses


def token_mean_of_means(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    losses = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        total = 0.0
        for x, targets in window:
            loss = cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index) / len(window)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses


def sequences_for_tokens(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    losses = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        sequences, total = sum(len(x) for x, _ in window), 0.0
        for x, targets in window:
            loss = cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index)
            loss = loss * len(x) / sequences
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses


def padding_counted(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    losses = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        positions, total = sum(targets.numel() for _, targets in window), 0.0
        for x, targets in window:
            loss = cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            (loss / positions).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / positions)
    optimizer.zero_grad()
    return losses


def ignore_index_fixed(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    return token_mean(model, optimizer, micro_batches, accumulation_steps)


def empty_skipped(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    filled = (pair for pair in micro_batches if (pair[1] != ignore_index).any())
    return token_mean(model, optimizer, filled, accumulation_steps, ignore_index)


def targets_shifted(
    model: Model, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int, ignore_index: int = -100
) -> list[float]:
    shifted = ((x, targets[:, 1:]) for x, targets in micro_batches)
    return token_mean(lambda x: model(x)[:, :-1], optimizer, shifted, accumulation_steps, ignore_index)


TOKEN_LOOPS = {
    "right": token_mean,
    "token-mean-of-means": token_mean_of_means,
    "sequences-for-tokens": sequences_for_tokens,
    "padding-counted": padding_counted,
    "ignore-index-fixed": ignore_index_fixed,
    "empty-skipped": empty_skipped,
    "targets-shifted": targets_shifted,
}
"""Loops by the slug of their mistake; ``"right"`` is the right one."""


def as_loop(function: Callable[..., object], ignore_index: int | None = None) -> Loop:
    """A loop over tokens as one that can be recorded; ``ignore_index`` is passed on if it is given."""
    options: dict[str, Any] = {} if ignore_index is None else {"ignore_index": ignore_index}

    def loop(
        model: Model, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
    ) -> object:
        return function(model, optimizer, micro_batches, accumulation_steps, **options)

    return loop
