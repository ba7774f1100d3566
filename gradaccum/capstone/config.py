"""A training run as plain data, and what can be made from it: lines, micro-batches, and all that the loop needs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from gradaccum.capstone.model import CharGPT
from gradaccum.capstone.run import History, Run
from gradaccum.capstone.text import Line, encode, log_lines

MIB = 2**20


@dataclass(frozen=True)
class Config:
    """What to train, how, and within which limits.

    Attributes:
        seed: fixes weights, text and the order of lines.
        lines: of the text; an epoch sees each once.
        shortest, longest: lines with fewer characters are left out, longer ones are cut.
        epochs: how often the text is read.
        width, depth, heads: of the model.
        recompute: whether blocks are computed again in the backward pass instead of kept (activation checkpointing).
        coupled: whether the lines of one forward act on each other; only marking asks for that.
        effective_batch: lines of one full window.
        micro_batch_size: B, lines of one forward and backward pass; divides ``effective_batch``.
        optimizer: ``"adamw"`` or ``"sgd"``, with momentum.
        lr: the highest rate.
        warmup: updates in which the rate rises to it.
        decay: whether it falls afterwards, as a cosine, to a tenth at the last update.
        max_norm: clipping threshold.
        budget: bytes that one forward and backward pass may need, see :func:`gradaccum.capstone.budget.activation_bytes`.
        checkpoint: path of a file to go on from if it exists, or None.
        stop_after: number of updates, counted from the start of the run, after which to write ``checkpoint`` and return; or
            None.
        device, dtype: where and in which precision; strings, so that a config stays plain data.
        watch: called with every :class:`Run` that is made; no part of what the config is.
    """

    seed: int = 0
    lines: int = 64
    shortest: int = 1
    longest: int = 60
    epochs: int = 2
    width: int = 16
    depth: int = 1
    heads: int = 2
    recompute: bool = False
    coupled: bool = False
    effective_batch: int = 12
    micro_batch_size: int = 3
    optimizer: str = "adamw"
    lr: float = 0.003
    warmup: int = 0
    decay: bool = False
    max_norm: float = 1.0
    budget: int = MIB
    checkpoint: str | None = None
    stop_after: int | None = None
    device: str = "cpu"
    dtype: str = "float32"
    watch: Callable[[Run], None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.effective_batch % self.micro_batch_size:
            raise ValueError(f"{self.micro_batch_size} lines do not divide a window of {self.effective_batch}")

    @property
    def accumulation_steps(self) -> int:
        """N, the micro-batches of a full window."""
        return self.effective_batch // self.micro_batch_size

    @property
    def updates(self) -> int:
        """Of the whole run, leftover windows included."""
        return self.epochs * math.ceil(self.lines / self.effective_batch)

    @property
    def text(self) -> tuple[Line, ...]:
        """The lines to learn."""
        return _text(self.seed, self.lines, self.shortest, self.longest)

    def micro_batches(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The micro-batches of an epoch, one at a time: x and y of shape ``(B, T)``, padded to their own longest line.

        Every epoch has its own order, the same each time it is asked for. The last micro-batch may have fewer lines.
        """
        for texts in _order(self.text, self.seed, epoch, self.micro_batch_size):
            yield encode(texts, self.device)

    def longest_micro_batch(self, lines: int) -> tuple[Tensor, Tensor]:
        """The micro-batch of so many lines that needs the most memory: the longest lines of the text."""
        texts = sorted((line.text for line in self.text), key=len, reverse=True)
        return encode(texts[:lines], self.device)

    def build_model(self) -> CharGPT:
        """A fresh model, the same on every call."""
        with torch.device("cpu"), torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            model = CharGPT(self.longest + 1, self.width, self.depth, self.heads, self.recompute, self.coupled)
        return model.to(device=self.device, dtype=getattr(torch, self.dtype))

    def build(self) -> Run:
        """A fresh run: model, optimizer, scheduler and an empty history."""
        model = self.build_model()
        optimizer: torch.optim.Optimizer
        if self.optimizer == "adamw":
            optimizer = torch.optim.AdamW(model.parameters(), lr=self.lr, betas=(0.9, 0.95), weight_decay=0.1)
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=0.9)
        run = Run(model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: self.rate(update)), History())
        if self.watch:
            self.watch(run)
        return run

    def rate(self, update: int) -> float:
        """The share of ``lr`` that an update, counted from 0, uses."""
        if update < self.warmup:
            return (update + 1) / (self.warmup + 1)
        if not self.decay:
            return 1.0
        done = min(1.0, (update - self.warmup) / max(1, self.updates - 1 - self.warmup))
        return 0.1 + 0.45 * (1 + math.cos(math.pi * done))

    def with_(self, **changes: Any) -> Config:
        """A copy with some attributes changed."""
        return replace(self, **changes)


@cache
def _text(seed: int, lines: int, shortest: int, longest: int) -> tuple[Line, ...]:
    written: list[Line] = []
    count = 2 * lines
    while len(written) < lines:
        written = [line for line in log_lines(seed, count) if len(line.text) >= shortest]
        count *= 2
    return tuple(Line(line.text[:longest], line.nats) for line in written[:lines])


@cache
def _order(text: tuple[Line, ...], seed: int, epoch: int, size: int) -> tuple[tuple[str, ...], ...]:
    chance = random.Random(f"order {seed} {epoch}")
    texts = [text for _, text in sorted((chance.random(), line.text) for line in text)]
    return tuple(tuple(texts[k : k + size]) for k in range(0, len(texts), size))


SMALL = Config(
    lines=2000,
    epochs=4,
    width=96,
    depth=3,
    heads=4,
    effective_batch=48,
    micro_batch_size=48,
    lr=0.004,
    warmup=10,
    decay=True,
    max_norm=0.5,
    budget=10 * MIB,
)
"""Well below 90 seconds on two CPU cores. As it stands, its micro-batches do not fit into its budget."""

LARGE = SMALL.with_(
    lines=20_000, epochs=6, width=384, depth=6, heads=6, effective_batch=256, micro_batch_size=256, lr=0.001, warmup=40,
    budget=512 * MIB,
)  # fmt: skip
"""For a GPU; set ``device="cuda"``."""
