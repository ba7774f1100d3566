"""What a run works with and what it leaves: model, optimizer, scheduler, history."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from gradaccum.capstone.model import CharGPT


class History:
    """What was measured at each update.

    Attributes:
        losses: the mean loss over the window's tokens, before the update.
        norms: the norm of the window's gradient before clipping.
        rates: the learning rate the update used.
        tokens: of the window, padding not counted.
        seconds: when each update was entered, since the history was made or loaded.
        listeners: called with the history after each update.
    """

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.rates: list[float] = []
        self.tokens: list[int] = []
        self.seconds: list[float] = []
        self.listeners: list[Callable[[History], None]] = []
        self._began = time.perf_counter()

    def add(self, loss: float, norm: float, rate: float, tokens: int) -> None:
        """Enter one update."""
        self.losses.append(float(loss))
        self.norms.append(float(norm))
        self.rates.append(float(rate))
        self.tokens.append(int(tokens))
        self.seconds.append(time.perf_counter() - self._began)
        for listener in self.listeners:
            listener(self)

    @property
    def updates(self) -> int:
        """How many have been entered."""
        return len(self.losses)

    def state_dict(self) -> dict[str, list[Any]]:
        """Everything entered so far, as plain lists."""
        return {name: list(getattr(self, name)) for name in _LISTS}

    def load_state_dict(self, state: dict[str, list[Any]]) -> None:
        """Continue from what :meth:`state_dict` returned."""
        for name in _LISTS:
            setattr(self, name, list(state[name]))
        self._began = time.perf_counter() - (self.seconds[-1] if self.seconds else 0.0)

    def __repr__(self) -> str:
        last = f", last loss {self.losses[-1]:.3f}" if self.losses else ""
        return f"History({self.updates} updates, {sum(self.tokens)} tokens{last})"


_LISTS = ("losses", "norms", "rates", "tokens", "seconds")


@dataclass(frozen=True)
class Run:
    """The four things that a training loop works with and that a checkpoint has to hold."""

    model: CharGPT
    optimizer: torch.optim.Optimizer
    scheduler: torch.optim.lr_scheduler.LRScheduler
    history: History

    def parts(self) -> dict[str, Any]:
        """All four by name; each has ``state_dict()`` and ``load_state_dict(state)``."""
        return {name: getattr(self, name) for name in ("model", "optimizer", "scheduler", "history")}
