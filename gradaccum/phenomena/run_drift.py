"""Run drift: how far a training run is from the run with large batches, update by update."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from itertools import product

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.capstone.config import Config
from gradaccum.capstone.model import CharGPT, token_loss
from gradaccum.capstone.run import Run
from gradaccum.capstone.variants import MISTAKES, RIGHT, RunVariant, Window, joined, train_window
from gradaccum.drawing import BAND, Style, label_columns, tidy
from gradaccum.loops import windows
from gradaccum.phenomena import control
from gradaccum.problems import flat_parameters
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Where a run parts from the large batch"
SIZE = (9.6, 3.8)
LINES, WINDOW, SIZE_OF_ONE, EPOCHS = 31, 12, 4, 3
PER_EPOCH = -(-LINES // WINDOW)
STOP = 4
"""The window after which a run that is to be stopped and resumed is."""

SAME = 1e-9
"""Relative distance up to which two runs are the same in float64."""

LOOPS = {
    "right": "right",
    "micro-batches weighted alike": "token-mean-of-means",
    "padding counted": "padding-counted",
    "no division at all": "no-scale",
    "leftover divided by N": "tail-scale",
    "leftover dropped": "tail-dropped",
    "clipped per micro-batch": "clip-per-micro-batch",
    "schedule per micro-batch": "schedule-per-micro-batch",
    "resumed without optimizer": "optimizer",
    "resumed at the first line": "place",
}
OPTIMIZERS = {"AdamW": "adamw", "SGD with momentum": "sgd"}
THRESHOLDS = {"100, never reached": 100.0, "0.1, always reached": 0.1}


@dataclass(frozen=True)
class Settings:
    """What the loop does, who updates, and whether clipping acts."""

    loop: str = control("tail-scale", "Loop", LOOPS)
    optimizer: str = control("adamw", "Optimizer", OPTIMIZERS)
    max_norm: float = control(100.0, "Clip at", THRESHOLDS)


PRESETS = {
    "Break": Settings(),
    "Break late": Settings(loop="optimizer"),
    "Hide it": Settings(loop="clip-per-micro-batch"),
    "Fix": Settings(loop="right"),
}


@dataclass(frozen=True)
class Result:
    """Two runs over the same windows.

    Attributes:
        losses, large_losses: on the whole text, at the start and after each window.
        distances: between the two runs' weights after each window, over the way the large batches have gone by then.
    """

    settings: Settings
    losses: Tensor
    large_losses: Tensor
    distances: Tensor

    @property
    def left_at(self) -> int | None:
        """The first window, counted from 1, after which the runs are apart; None if they never are."""
        apart = (self.distances > SAME).nonzero()
        return int(apart[0]) + 1 if len(apart) else None


def compute(settings: Settings) -> Result:
    """Train both."""
    _train_ahead()
    large, run = path("large", settings.optimizer, settings.max_norm), path(*_values(settings))
    gone = (large[1:] - large[0]).norm(dim=1)
    distances = (run[1:] - large[1:]).norm(dim=1) / gone
    return Result(settings, _losses(*_values(settings)), _losses("large", settings.optimizer, settings.max_norm), distances)


@cache
def _train_ahead() -> None:
    """With the first picture, so that no control waits for two runs, and the choice of a loop for none."""
    opening = Settings()
    for optimizer, max_norm in product(OPTIMIZERS.values(), THRESHOLDS.values()):
        path("large", optimizer, max_norm)
    for loop in LOOPS.values():
        path(loop, opening.optimizer, opening.max_norm)
        _losses(loop, opening.optimizer, opening.max_norm)


def _values(settings: Settings) -> tuple[str, str, float]:
    return settings.loop, settings.optimizer, settings.max_norm


@cache
def path(loop: str, optimizer: str, max_norm: float) -> Tensor:
    """The weights at the start and after each window of a run over 93 lines, three times 31."""
    config = config_for(optimizer, max_norm)
    run, variant, todo = config.build(), _variant(loop), _windows(loop == "large")
    rows = [flat_parameters(run.model)]
    for k in range(len(todo)):
        if k == STOP and variant.forget:
            run = resumed(run, config, variant.forget)
        window: Window = todo[k - STOP if variant.forget == "place" and k >= STOP else k]
        train_window(run, window, max_norm, variant, len(window) if loop == "large" else config.accumulation_steps)
        rows.append(flat_parameters(run.model))
    return torch.stack(rows)


@cache
def _windows(large: bool) -> tuple[Window, ...]:
    """The micro-batches of all windows, or each window as one large batch; all loops read the same."""
    config = config_for("sgd", 1.0)
    todo = (w for epoch in range(EPOCHS) for w in windows(config.micro_batches(epoch), config.accumulation_steps))
    return tuple([joined(window)] if large else window for window in todo)


def config_for(optimizer: str, max_norm: float) -> Config:
    """A tiny run: a model of one block, windows of 12 lines in micro-batches of 4, a warmup of 2 updates."""
    return Config(
        seed=3,
        lines=LINES,
        longest=24,
        epochs=EPOCHS,
        effective_batch=WINDOW,
        micro_batch_size=SIZE_OF_ONE,
        optimizer=optimizer,
        lr=0.02 if optimizer == "adamw" else 0.5,
        warmup=2,
        decay=True,
        max_norm=max_norm,
        dtype="float64",
    )


def resumed(run: Run, config: Config, forgotten: str) -> Run:
    """A fresh run with all but one part of another's state, as if it had been saved and loaded."""
    fresh = config.build()
    for name, part in run.parts().items():
        if name != forgotten:
            fresh.parts()[name].load_state_dict(copy.deepcopy(part.state_dict()))
    return fresh


def _variant(loop: str) -> RunVariant:
    if loop in MISTAKES:
        return MISTAKES[loop][0]
    return RIGHT._replace(forget=loop) if loop in ("optimizer", "place") else RIGHT


@cache
@torch.no_grad()
def _losses(loop: str, optimizer: str, max_norm: float) -> Tensor:
    """On the whole text, after each window; for the eye, so in float32, which takes half the time."""
    return torch.tensor([_loss_at(row) for row in path(loop, optimizer, max_norm).float()])


@cache
def _whole_text() -> tuple[CharGPT, Tensor, Tensor]:
    """A model to put weights into, and the text as one micro-batch."""
    config = config_for("sgd", 1.0)
    return config.build_model().float(), *config.longest_micro_batch(LINES)


def _loss_at(weights: Tensor) -> float:
    model, x, y = _whole_text()
    torch.nn.utils.vector_to_parameters(weights, model.parameters())
    return float(token_loss(model(x), y))


def draw(result: Result, figure: Figure) -> None:
    """Losses on the left, where next to nothing is to be seen; distances on the right."""
    losses = figure.add_axes((0.06, 0.14, 0.38, 0.77))
    distances = figure.add_axes((0.555, 0.14, 0.43, 0.77))
    _draw_losses(losses, result)
    _draw_distances(distances, result)


def describe(result: Result) -> str:
    """Where the runs part, how far they come, and how little of it the losses show."""
    settings, at = result.settings, result.left_at
    name = next(label for label, value in LOOPS.items() if value == settings.loop)
    clip = f"clipping at {settings.max_norm:g}"
    start = f"{name[0].upper()}{name[1:]}, {'AdamW' if settings.optimizer == 'adamw' else 'SGD'}, {clip}"
    ends = f"losses at the end: {result.losses[-1]:.3f}, and {result.large_losses[-1]:.3f} with large batches"
    if at is None:
        exact = f"never further apart than {float(result.distances.max()):.0e} of the distance covered"
        hidden = (
            ""
            if settings.loop == "right"
            else " The mistake is there but does not show, so do not trust a test with these settings."
        )
        return f"{start}: {len(result.distances)} windows, {exact} ({ends}).{hidden}"
    place = _place(at)
    apart = _share(float(result.distances[-1]))
    return (
        f"{start}: the runs part at window {at}{place}, and in the end they differ by {apart} of the distance covered "
        f"({ends}). The window where they part tells you which line of the loop to look at."
    )


def _share(distance: float) -> str:
    return f"{distance:.0%}" if distance > 0.01 else f"{distance:.0e}"


def _place(window: int) -> str:
    if window % PER_EPOCH == 0:
        return ", a leftover"
    if window == STOP + 1:
        return ", the first after the stop"
    return ""


def _look(result: Result) -> Style:
    same = result.left_at is None
    return {"color": BLUE, "marker": "o"} if same else {"color": VERMILLION, "marker": "x"}


def _draw_losses(axes: Axes, result: Result) -> None:
    tidy(axes, "Loss on the whole text", "windows so far", "", y_away=38)
    axes.plot(result.large_losses, color=GREEN, linestyle="--", marker="s", markersize=7, markerfacecolor="white")
    axes.plot(result.losses, linewidth=1.1, markersize=4.5, **_look(result))
    axes.set(xlim=(-0.3, len(result.distances) + 0.3), ylim=(2.2, 4.4))
    label_columns(axes, {number: str(number) for number in range(0, len(result.distances) + 1, 3)})
    axes.set_yticks([2.5, 3, 3.5, 4])
    text: Style = {"fontsize": 9, "transform": axes.transAxes}
    axes.text(0.04, 0.12, "□ large batches", color=GREEN, **text)
    axes.text(0.04, 0.05, f"{'●' if result.left_at is None else '×'} this loop", color=_look(result)["color"], **text)


def _draw_distances(axes: Axes, result: Result) -> None:
    tidy(axes, "Distance from large batches / distance covered", "windows so far", "", y_away=38)
    numbers = range(1, len(result.distances) + 1)
    axes.axhspan(-17, -13, **BAND)
    axes.text(6.15, -13.6, "rounding of float64", fontsize=8.5, color=GREY)
    for number in range(PER_EPOCH, len(result.distances) + 1, PER_EPOCH):
        axes.axvline(number, color=GREY, linestyle=":", linewidth=1)
    axes.text(PER_EPOCH + 0.1, 1.25, "leftovers", fontsize=8.5, color=GREY, ha="left")
    if result.settings.loop in ("optimizer", "place"):
        axes.axvline(STOP + 0.5, color=GREY, linestyle="-", linewidth=1.4)
        axes.text(STOP + 0.62, -11.5, "resumed", fontsize=8.5, color=GREY)
    # Their logarithms, because a logarithmic axis takes twice as long.
    axes.plot(numbers, result.distances.clamp(min=1e-17).log10(), linewidth=1.1, markersize=5.5, **_look(result))
    axes.set(xlim=(0.2, len(result.distances) + 0.3), ylim=(-17, 2))
    label_columns(axes, {number: str(number) for number in numbers})
    axes.set_yticks([-16, -12, -8, -4, 0], ["1e-16", "1e-12", "1e-8", "1e-4", "1"])
