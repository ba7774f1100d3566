"""A training run that can be stopped anywhere and resumed: everything that its future depends on, in one object."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.problems.ingredients import normal_numbers

FEATURES, OUTPUTS, WIDTH = 4, 2, 8
TARGET_SIZE = 100.0
"""Their squared errors, about 10⁴, make a gradient overflow before 1 / scale does."""


@dataclass(frozen=True)
class RunProblem:
    """What a run is made of, as plain data.

    Attributes:
        seed: fixes weights, data, orders and dropout.
        accumulation_steps: N.
        micro_batch_size: B.
        micro_batches: in an epoch; the last window of an epoch is a leftover if N does not divide them.
        epochs: how many.
        shuffled: whether every epoch has an order of its own.
        dropout: whether the model has a layer that draws random numbers.
        overflowing: whether the scale of gradients is so high, and grows so often, that windows are skipped.
        device: where.
    """

    seed: int = 0
    accumulation_steps: int = 3
    micro_batch_size: int = 2
    micro_batches: int = 7
    epochs: int = 3
    shuffled: bool = True
    dropout: bool = True
    overflowing: bool = True
    device: str = "cpu"

    @property
    def total(self) -> int:
        """Micro-batches of the whole run."""
        return self.epochs * self.micro_batches

    def boundaries(self) -> list[int]:
        """How many micro-batches are done after each update, 0 included."""
        return [k for k in range(self.total + 1) if not self.is_open(k)]

    def is_open(self, position: int) -> bool:
        """Whether a window is unfinished after so many micro-batches."""
        return position % self.micro_batches % self.accumulation_steps != 0

    def start(self) -> Run:
        """What the training script does when it is started: seed torch's own random numbers and build a fresh run."""
        torch.default_generator.manual_seed(self.seed)
        return Run(self)


class Run:
    """A training run between two micro-batches.

    Attributes:
        model, optimizer, scheduler, scaler: AdamW, a schedule per update, a scaler of gradients; each has a ``state_dict``.
        position: micro-batches done since the beginning of the run.
        order: ``(S,)``, the order of the samples in this epoch, drawn when the epoch begins.
        shuffler: the ``torch.Generator`` that draws it.
        window_open: whether gradients wait in ``.grad`` for the rest of their window.

    Dropout draws from torch's own random numbers, see ``torch.get_rng_state``.
    """

    def __init__(self, problem: RunProblem):
        self.problem, self.position = problem, 0
        generator = torch.Generator("cpu").manual_seed(problem.seed)
        self.shuffler = torch.Generator("cpu").manual_seed(problem.seed + 1)
        samples = problem.micro_batches * problem.micro_batch_size
        self.order = torch.arange(samples, device="cpu")
        self.x = normal_numbers((samples, FEATURES), generator, torch.float32).to(problem.device)
        self.y = TARGET_SIZE * normal_numbers((samples, OUTPUTS), generator, torch.float32).to(problem.device)
        self.model = _build_model(problem, generator)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.5)
        updates = len(problem.boundaries()) - 1
        cosine = lambda k: 0.05 + 0.95 * (1 + math.cos(math.pi * min(k / updates, 1))) / 2  # noqa: E731
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, cosine)
        self.scaler = _build_scaler(problem)

    @property
    def window_open(self) -> bool:
        return self.problem.is_open(self.position)

    def train_micro_batch(self) -> float:
        """Train on a micro-batch; update after a window's last."""
        problem, size = self.problem, self.problem.micro_batch_size
        done = self.position % problem.micro_batches
        if done == 0 and problem.shuffled:
            self.order = torch.randperm(
                len(self.x),
                generator=self.shuffler,
                device="cpu",
            )
        samples = self.order[done * size : (done + 1) * size]
        output = self.model(self.x[samples])
        loss = F.mse_loss(output, self.y[samples])
        first = done - done % problem.accumulation_steps
        left = problem.micro_batches - first
        in_window = min(problem.accumulation_steps, left)
        self.scaler.scale(loss / in_window).backward()
        self.position += 1
        if not self.window_open:
            self._update()
        return loss.item()

    def _update(self) -> None:
        scale = self.scaler.get_scale()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        if self.scaler.get_scale() >= scale:  # else: overflow
            self.scheduler.step()


PIECES = ("model", "optimizer", "scheduler", "scaler", "position", "order", "shuffler", "rng")
"""What the future of a run depends on, between two windows."""

_WITH_STATE_DICT = PIECES[:4]


def state_of(run: Run) -> dict[str, Any]:
    """A copy of everything the future of a run depends on, by piece; the gradients of an open window are not included."""
    state = {name: copy.deepcopy(getattr(run, name).state_dict()) for name in _WITH_STATE_DICT}
    state |= {"position": run.position, "order": run.order.clone()}
    return state | {"shuffler": run.shuffler.get_state(), "rng": torch.get_rng_state()}


def put_state(run: Run, state: dict[str, Any], forget: Collection[str] = ()) -> None:
    """Restore a state in a fresh run, except for the pieces to forget."""
    kept = {name: value for name, value in state.items() if name not in forget}
    for name in _WITH_STATE_DICT:
        if name in kept:
            getattr(run, name).load_state_dict(copy.deepcopy(kept[name]))
    run.position = kept.get("position", run.position)
    run.order = kept.get("order", run.order)
    if "shuffler" in kept:
        run.shuffler.set_state(kept["shuffler"])
    if "rng" in kept:
        torch.set_rng_state(kept["rng"])


def train_to_end(run: Run, after_each: Callable[[Run], object] | None = None) -> list[float]:
    """Train to the end of the run and return the loss of each micro-batch; never more of them than a whole run has.

    What is to be done ``after_each`` micro-batch is given the run.
    """
    losses: list[float] = []
    while run.position < run.problem.total and len(losses) < run.problem.total:
        losses.append(run.train_micro_batch())
        if after_each:
            after_each(run)
    return losses


class CpuDropout(nn.Module):
    """Dropout whose random numbers come from torch's own generator on the CPU, wherever the model is."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        return x * (torch.rand(x.shape, dtype=torch.float32, device="cpu") < 0.8).to(x) / 0.8


def _build_model(problem: RunProblem, generator: torch.Generator) -> nn.Module:
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):  # layers draw weights, which are not kept
        layers = [nn.Linear(FEATURES, WIDTH), nn.Tanh(), nn.Linear(WIDTH, OUTPUTS)]
    model = nn.Sequential(*layers[:2], *([CpuDropout()] if problem.dropout else []), layers[2])
    for parameter in model.parameters():
        parameter.data = normal_numbers(parameter.shape, generator, torch.float32)
    return model.to(problem.device)


def _build_scaler(problem: RunProblem) -> torch.amp.GradScaler:
    kind = torch.device(problem.device).type
    if not problem.overflowing:
        return torch.amp.GradScaler(kind, init_scale=2.0**10, growth_interval=10**6)
    return torch.amp.GradScaler(kind, init_scale=2.0**118, growth_factor=2.0**4, backoff_factor=2.0**-4, growth_interval=2)
