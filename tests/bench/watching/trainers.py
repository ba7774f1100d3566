"""Small trainers of different build, right and wrong, that watching is tried on.

A trainer is a function of a model; everything else it makes itself. A right one is entered with ``@right``, one with a planted
mistake with ``@wrong(slug)``, one that says nothing about its shares with ``@untold``.
"""

from __future__ import annotations

import copy
import pickle
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


# Right


@right
def sum_of_losses_over_tokens_of_the_window(model):
    train(model, lambda m, x, y, window: summed(m, x, y) / tokens_in(window))


@right
def mean_weighted_by_tokens(model):
    train(model, lambda m, x, y, window: cross_entropy(m, x, y) * tokens_in([(x, y)]) / tokens_in(window))


@right
def losses_of_single_tokens_summed(model):
    train(model, lambda m, x, y, window: cross_entropy(m, x, y, reduction="none").sum() / tokens_in(window))


@right
def gradients_divided_by_tokens_before_the_step(model):
    optimizer = adamw(model)
    for window in WINDOWS:
        optimizer.zero_grad()
        for x, y in window:
            summed(model, x, y).backward()
        for parameter in model.parameters():
            parameter.grad.div_(tokens_in(window))
        optimizer.step()


@right
def clipped_by_norm(model):
    train(
        model,
        lambda m, x, y, window: summed(m, x, y) / tokens_in(window),
        before_step=lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.1),
    )


@right
def loss_written_by_hand(model):
    def loss_of(m, x, y, window):
        counted = y != -100
        picked = m(x).log_softmax(-1).gather(-1, y.where(counted, 0)[..., None])[..., 0]
        return -(picked * counted).sum() / tokens_in(window)

    train(model, loss_of)


def smoothed(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The sum over tokens of a loss with label smoothing, written by hand."""
    counted, log = y != -100, model(x).log_softmax(-1)
    picked = log.gather(-1, y.where(counted, 0)[..., None])[..., 0]
    return -((0.9 * picked + 0.1 * log.mean(-1)) * counted).sum()


@right
def label_smoothing_written_by_hand(model):
    train(model, lambda m, x, y, window: smoothed(m, x, y) / tokens_in(window))


@right
def model_copied_and_pickled_while_it_trains(model):
    def loss_of(m, x, y, window):
        average = copy.deepcopy(m)
        with torch.no_grad():
            pickle.loads(pickle.dumps(average))(x)
        return summed(m, x, y) / tokens_in(window)

    train(model, loss_of)


@right
def scaler_and_autocast_with_clipping(model):
    optimizer, scaler = torch.optim.SGD(model.parameters(), 1e-2), torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for window in WINDOWS:
        for x, y in window:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(x)
            loss = F.cross_entropy(out.float().flatten(0, 1), y.flatten(), reduction="sum") / tokens_in(window)
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


@right
def closure_that_accumulates(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for window in WINDOWS:

        def closure(window=window):
            optimizer.zero_grad()
            for x, y in window:
                loss = summed(model, x, y) / tokens_in(window)
                loss.backward()
            return loss

        optimizer.step(closure)


@right
def updates_by_hand(model):
    for window in WINDOWS:
        for x, y in window:
            (summed(model, x, y) / tokens_in(window)).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 1e-2 * parameter.grad
                parameter.grad = None


@right
def buffers_of_its_own(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for window in WINDOWS:
        buffers = [torch.zeros_like(parameter) for parameter in model.parameters()]
        for x, y in window:
            model.zero_grad()
            summed(model, x, y).backward()
            for buffer, parameter in zip(buffers, model.parameters(), strict=True):
                buffer += parameter.grad
        for buffer, parameter in zip(buffers, model.parameters(), strict=True):
            parameter.grad = buffer / tokens_in(window)
        optimizer.step()


@right(steps=1)
def ranking_loss_written_by_hand(model):
    """Its scores are in it twice: under a logarithm, and by themselves."""
    optimizer = adamw(model)
    for x, y in DATA:
        optimizer.zero_grad()
        scores = 20 * model(x).mean(1) @ model(y.clamp_min(0)).mean(1).T
        (scores.logsumexp(1) - scores.diagonal()).mean().backward()
        optimizer.step()


@right(steps=1)
def adversarial_pair_of_networks(model):
    judge = nn.Linear(WORDS, 1)
    optimizer, of_judge = adamw(model), adamw(judge)
    loss = F.binary_cross_entropy_with_logits
    for x, _ in DATA[:6]:
        made = model(x).mean(1)
        of_judge.zero_grad()
        (loss(judge(made.detach()), torch.zeros(2, 1)) + loss(judge(torch.ones(2, WORDS)), torch.ones(2, 1))).backward()
        of_judge.step()
        optimizer.zero_grad()
        loss(judge(made), torch.ones(2, 1)).backward()
        optimizer.step()


@right
def two_losses_with_a_factor(model):
    def loss_of(m, x, y, window):
        out = m(x).mean(1)
        return (0.3 * F.mse_loss(out, torch.zeros(2, WORDS)) + F.l1_loss(out, torch.ones(2, WORDS))) / len(window)

    train(model, loss_of)


# Wrong


@wrong("no-scale")
def never_divided(model):
    train(model, lambda m, x, y, window: F.mse_loss(m(x).mean(1), torch.zeros(2, WORDS)))


@wrong("token-mean-of-means")
def mean_of_means_over_tokens(model):
    train(model, lambda m, x, y, window: cross_entropy(m, x, y) / len(window))


@wrong("no-scale")
def label_smoothing_never_divided(model):
    train(model, lambda m, x, y, window: smoothed(m, x, y) / tokens_in([(x, y)]))


class Classifier(nn.Module):
    """Two classes of samples of a few numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(WIDTH, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


@wrong("mean-of-means", model=Classifier)
def mean_of_means_over_samples_of_a_classification(model):
    optimizer = adamw(model)
    for _ in range(2):
        for window in WINDOWS:
            optimizer.zero_grad()
            for k in range(len(window)):
                loss = F.cross_entropy(model(torch.randn(2 + k, WIDTH)), torch.zeros(2 + k, dtype=torch.int64))
                (loss / len(window)).backward()
            optimizer.step()


@wrong("wrong-total")
def padding_counted_as_tokens(model):
    total = {id(window): sum(y.numel() for _, y in window) for window in WINDOWS}
    train(model, lambda m, x, y, window: cross_entropy(m, x, y, reduction="none").sum() / total[id(window)])


@wrong("not-due")
def total_of_an_epoch_for_windows_that_span_two(model):
    optimizer, steps = adamw(model), 0
    for _ in range(2):
        for k, (x, y) in enumerate(DATA):
            (summed(model, x, y) / tokens_in(WINDOWS[k // N])).backward()
            steps += 1
            if steps % N == 0:
                optimizer.step()
                optimizer.zero_grad()


@wrong("wrong-total")
def one_token_too_many_for_each_sequence(model):
    train(model, lambda m, x, y, window: summed(m, x, y) / (tokens_in(window) + 2 * len(window)))


@wrong("still-scaled")
def never_unscaled(model):
    train(model, lambda m, x, y, window: 1024 * summed(m, x, y) / tokens_in(window), torch.optim.SGD(model.parameters(), 1e-9))


@wrong("never-updated")
def embedding_left_out_of_the_optimizer(model):
    rest = [*model.layer.parameters(), *model.head.parameters()]
    train(model, lambda m, x, y, window: summed(m, x, y) / tokens_in(window), torch.optim.AdamW(rest))


@wrong("no-scale")
def one_loss_of_two_not_divided(model):
    def loss_of(m, x, y, window):
        out = m(x).mean(1)
        return F.mse_loss(out, torch.zeros(2, WORDS)) / len(window) + F.l1_loss(out, torch.ones(2, WORDS))

    train(model, loss_of)


@wrong("zero-every")
def embedding_cleared_before_every_backward(model):
    def loss_of(m, x, y, window):
        m.embedding.zero_grad()
        return summed(m, x, y) / tokens_in(window)

    train(model, loss_of)


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


@wrong("outside-of-cache", model=TwoTowers)
def temperature_of_cached_features_learns_in_every_backward(model):
    train_with_cached_features(model, share=1.0)


# Cannot be told


@untold(model=TwoTowers)
def temperature_of_cached_features_learns_its_share(model):
    train_with_cached_features(model, share=1 / N)


@right
def gradients_from_autograd_grad(model):
    optimizer, parameters = adamw(model), list(model.parameters())
    for window in WINDOWS:
        total = [torch.zeros_like(parameter) for parameter in parameters]
        for x, y in window:
            for sum_, part in zip(total, torch.autograd.grad(summed(model, x, y) / tokens_in(window), parameters), strict=True):
                sum_ += part
        for parameter, sum_ in zip(parameters, total, strict=True):
            parameter.grad = sum_
        optimizer.step()


@untold(steps=1)
def sharpness_aware(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for x, y in DATA:
        optimizer.zero_grad()
        cross_entropy(model, x, y).backward()
        with torch.no_grad():
            moves = [0.05 * p.grad / p.grad.norm() for p in model.parameters()]
            for parameter, move in zip(model.parameters(), moves, strict=True):
                parameter += move
        optimizer.zero_grad()
        cross_entropy(model, x, y).backward()
        with torch.no_grad():
            for parameter, move in zip(model.parameters(), moves, strict=True):
                parameter -= move
        optimizer.step()


@untold
def nothing_at_all(model):
    pass
