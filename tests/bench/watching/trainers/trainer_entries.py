"""Small trainers of different build, right and wrong, that watching is tried on.

A trainer is a function of a model; everything else it makes itself. A right one is entered with ``@right``, one with a planted
mistake with ``@wrong(slug)``, one that says nothing about its shares with ``@untold``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

N = 4
WORDS, WIDTH = 50, 16


class LanguageModel(nn.Module):
    """An embedding, a layer, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(torch.tanh(self.layer(self.embedding(tokens))))


def token_data(micro_batches: int = 10) -> list[tuple[Tensor, Tensor]]:
    """Ragged micro-batches of two sequences; about a third of the targets is ignored."""
    generator = torch.Generator().manual_seed(7)
    data = []
    for k in range(micro_batches):
        tokens = torch.randint(0, WORDS, (2, 5 + k % 3), generator=generator)
        ignored = torch.rand(tokens.shape, generator=generator) < 0.3
        data.append((tokens, tokens.where(~ignored, -100)))
    return data


DATA = token_data()
WINDOWS = [DATA[:4], DATA[4:8], DATA[8:]]


def tokens_in(window: list[tuple[Tensor, Tensor]]) -> int:
    return sum(int((y != -100).sum()) for _, y in window)


def cross_entropy(model: nn.Module, x: Tensor, y: Tensor, **options: object) -> Tensor:
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), **options)


def summed(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(model, x, y, reduction="sum")


@dataclass(frozen=True)
class Trainer:
    """A trainer and the outcome that is due: ``"due"``, ``"cannot tell"``, or the slug that must be named."""

    run: Callable[[nn.Module], object]
    want: str
    model: Callable[[], nn.Module] = LanguageModel
    steps: int | None = N

    @property
    def name(self) -> str:
        return self.run.__name__


TRAINERS: list[Trainer] = []


def right(run: Callable | None = None, **options: object):
    return _enter("due", run, options)


def untold(run: Callable | None = None, **options: object):
    return _enter("cannot tell", run, options)


def wrong(slug: str, **options: object):
    return _enter(slug, None, options)


def _enter(want: str, run: Callable | None, options: dict):
    def add(trainer: Callable) -> Callable:
        TRAINERS.append(Trainer(trainer, want, **options))
        return trainer

    return add if run is None else add(run)


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), 1e-3)


def train(model: nn.Module, loss_of: Callable, optimizer: torch.optim.Optimizer | None = None, before_step=None) -> None:
    """Two epochs with a leftover, an update for each window; ``loss_of(model, x, y, window)`` is what goes backward."""
    optimizer = optimizer or adamw(model)
    for _ in range(2):
        for window in WINDOWS:
            optimizer.zero_grad()
            for x, y in window:
                loss_of(model, x, y, window).backward()
            if before_step:
                before_step(model)
            optimizer.step()


def smoothed(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The sum over tokens of a loss with label smoothing, written by hand."""
    counted, log = y != -100, model(x).log_softmax(-1)
    picked = log.gather(-1, y.where(counted, 0)[..., None])[..., 0]
    return -((0.9 * picked + 0.1 * log.mean(-1)) * counted).sum()


class Classifier(nn.Module):
    """Two classes of samples of a few numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(WIDTH, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class TwoTowers(nn.Module):
    """Features, and a temperature for the loss that compares them."""

    def __init__(self) -> None:
        super().__init__()
        self.tower, self.temperature = nn.Linear(WIDTH, WIDTH), nn.Parameter(torch.tensor(1.0))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return F.normalize(self.tower(x)), self.temperature


def train_with_cached_features(model: TwoTowers, share: float) -> None:
    optimizer = adamw(model)
    for _ in range(3):
        parts = [torch.randn(3, WIDTH) for _ in range(N)]
        with torch.no_grad():
            cached = [model(part)[0] for part in parts]
        optimizer.zero_grad()
        for k, part in enumerate(parts):
            features, temperature = model(part)
            everything = torch.cat([*cached[:k], features, *cached[k + 1 :]])
            scores = temperature * everything @ everything.roll(1, 0).T
            F.cross_entropy(scores, torch.arange(len(scores))).backward()
        model.temperature.grad *= share
        optimizer.step()
