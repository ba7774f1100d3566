"""Missing 1/N: what forgetting the division does to an update, and which optimizers hide it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from torch import Tensor

from gradaccum.drawing import LABEL, Style, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Missing 1/N"
SIZE = (9.6, 3.8)
SAMPLES, UPDATES = 16, 10
LR, MAX_NORM = 0.3, 1.0
SAME, HIDDEN = 0.01, 1e-3
"""Updates whose lengths differ by less than 1 % count as equally long; one that differs by less than 1/1000 cannot be seen."""

CURVATURES = torch.tensor([2.0, 0.5], dtype=torch.float64)
TURN = torch.tensor([[0.8, -0.6], [0.6, 0.8]], dtype=torch.float64)
START, TARGET = torch.tensor([-1.6, 1.8], dtype=torch.float64), torch.tensor([1.0, 0.5], dtype=torch.float64)
VIEW = ((-3.5, 4.0), (-2.6, 3.8))

OPTIMIZERS = {"SGD": "sgd", "SGD, gradient clipped": "clipped", "AdamW": "adamw"}


@dataclass(frozen=True)
class Settings:
    """How many micro-batches 16 samples are cut into, whether each loss is divided by N, and who makes the update."""

    accumulation_steps: int = control(4, "N", (2, 4, 8))
    divide: bool = control(False, "Divide by N")
    optimizer: str = control("sgd", "Optimizer", OPTIMIZERS)


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(divide=True),
    "Hide it": Settings(optimizer="adamw"),
}


@dataclass(frozen=True)
class Result:
    """Two runs of the same length from the same start: the one looked at, and one that divides by N.

    Attributes:
        path, right_path: ``(UPDATES + 1, 2)``, the parameters at the start and after each update.
        losses, right_losses: ``(UPDATES + 1,)``, the loss there.
        ratios: ``(UPDATES,)``, length of each update over the length of the one due at the same place.
        differences: ``(UPDATES,)``, distance of each update from the due one, over the length of the due one.
    """

    settings: Settings
    path: Tensor
    right_path: Tensor
    losses: Tensor
    right_losses: Tensor
    ratios: Tensor
    differences: Tensor


def compute(settings: Settings) -> Result:
    """Train both, and from each place of the chosen run make the update that is due there."""
    n, optimizer = settings.accumulation_steps, settings.optimizer
    path, gradients = _train(n, optimizer, settings.divide)
    right_path, _ = _train(n, optimizer, True)
    due = _updates(path, gradients if settings.divide else gradients / n, optimizer)
    made = path[1:] - path[:-1]
    sizes = due.norm(dim=1)
    return Result(
        settings=settings,
        path=path,
        right_path=right_path,
        losses=_loss(path),
        right_losses=_loss(right_path),
        ratios=made.norm(dim=1) / sizes,
        differences=(made - due).norm(dim=1) / sizes,
    )


def draw(result: Result, figure: Figure) -> None:
    """Where the parameters go, and how long each update is."""
    landscape = figure.add_axes((0.06, 0.13, 0.4, 0.79))
    lengths = figure.add_axes((0.56, 0.13, 0.42, 0.79))
    _draw_landscape(landscape, result)
    _draw_lengths(lengths, result)


def describe(result: Result) -> str:
    """How much longer the updates are, and where the run ends."""
    settings, n = result.settings, result.settings.accumulation_steps
    name = next(label for label, value in OPTIMIZERS.items() if value == settings.optimizer)
    end, right_end = float(result.losses[-1]), float(result.right_losses[-1])
    if settings.divide:
        return (
            f"{name}, divided by N = {n}: every update is as long as due, and after {UPDATES} updates the loss has gone from "
            f"{in_words(float(result.losses[0]))} to {in_words(end)}."
        )
    ratios, most = result.ratios, float(result.differences.max())
    gone = " The run has left the picture." if _outside(result.path[-1]) else ""
    ends = f"After {UPDATES} updates the loss is {in_words(end)} instead of {in_words(right_end)}.{gone}"
    start = f"{name}, not divided by N = {n}:"
    if most < HIDDEN:
        return (
            f"{start} no update differs from the due one by more than {most:.0e} of its length, so the mistake does not show: "
            f"{name} divides the gradient by its own size."
        )
    if settings.optimizer == "clipped":
        hidden = int(((ratios - 1).abs() < SAME).sum())
        return (
            f"{start} {hidden} of {UPDATES} updates are cut to the due length and do not show the mistake; the others are up "
            f"to {float(ratios.max()):.1f} times as long as due. {ends}"
        )
    return f"{start} every update is {float(ratios.mean()):.2f} times as long as due, as with {n} times the rate. {ends}"


def in_words(loss: float) -> str:
    """A loss, short at any size."""
    if 10 <= loss < 1e6:
        return f"{loss:,.0f}"
    return f"{loss:.2g}" if 1e-4 <= loss < 10 else f"{loss:.1e}"


def _outside(place: Tensor) -> bool:
    return any(not low < value < high for value, (low, high) in zip(place.tolist(), VIEW, strict=True))


def _data() -> tuple[Tensor, Tensor]:
    """16 samples of a line without noise; the loss is a bowl around TARGET with curvatures 2 and 1/2."""
    generator = torch.Generator().manual_seed(3)
    white, _ = torch.linalg.qr(torch.randn(SAMPLES, 2, generator=generator, dtype=torch.float64))
    x = white * SAMPLES**0.5 @ torch.diag(CURVATURES / 2).sqrt() @ TURN.T
    return x, x @ TARGET


def _train(accumulation_steps: int, optimizer: str, divide: bool) -> tuple[Tensor, Tensor]:
    """The places of a run, and the accumulated gradients of its updates."""
    x, y = _data()
    w = START.clone().requires_grad_()
    update = _optimizer(w, optimizer)
    path, gradients = [w.detach().clone()], []
    for _ in range(UPDATES):
        update.zero_grad()
        for x_part, y_part in zip(x.chunk(accumulation_steps), y.chunk(accumulation_steps), strict=True):
            loss = torch.nn.functional.mse_loss(x_part @ w, y_part)
            (loss / accumulation_steps if divide else loss).backward()
        assert w.grad is not None
        gradients.append(w.grad.clone())
        _step(update, w, optimizer)
        path.append(w.detach().clone())
    return torch.stack(path), torch.stack(gradients)


def _updates(path: Tensor, gradients: Tensor, optimizer: str) -> Tensor:
    """The updates that an optimizer makes of these gradients at these places."""
    w = START.clone().requires_grad_()
    update = _optimizer(w, optimizer)
    moved = []
    for place, gradient in zip(path[:-1], gradients, strict=True):
        w.data, w.grad = place.clone(), gradient.clone()
        _step(update, w, optimizer)
        moved.append(w.detach() - place)
    return torch.stack(moved)


def _optimizer(w: Tensor, name: str) -> torch.optim.Optimizer:
    return torch.optim.AdamW([w], lr=LR) if name == "adamw" else torch.optim.SGD([w], lr=LR)


def _step(update: torch.optim.Optimizer, w: Tensor, name: str) -> None:
    if name == "clipped":
        torch.nn.utils.clip_grad_norm_([w], MAX_NORM)
    update.step()


def _loss(places: Tensor) -> Tensor:
    x, y = _data()
    return (places @ x.T - y).square().mean(dim=1)


def _draw_landscape(axes: Axes, result: Result) -> None:
    tidy(axes, "The path through the loss landscape", "parameter 1", "parameter 2")
    angle = math.degrees(math.atan2(TURN[1, 0], TURN[0, 0]))
    for level in (0.1, 0.5, 1.5, 3.5, 7, 12, 20):
        width, height = (2 * (2 * level / CURVATURES).sqrt()).tolist()
        axes.add_patch(
            Ellipse(
                (float(TARGET[0]), float(TARGET[1])), width, height, angle=angle, fill=False, edgecolor="#c8c8c8", linewidth=0.8
            )
        )
    axes.plot(*TARGET.tolist(), marker="+", color=GREY, markersize=9)
    axes.plot(*result.right_path.T.tolist(), color=GREEN, linestyle="--", marker="s", markersize=5, linewidth=1.4)
    same = result.settings.divide or float(result.differences.max()) < HIDDEN
    look: Style = (
        {"color": BLUE, "marker": "o", "markersize": 3} if same else {"color": VERMILLION, "marker": "x", "markersize": 6}
    )
    axes.plot(*result.path.T.tolist(), linewidth=1.2, **look)
    axes.set(xlim=VIEW[0], ylim=VIEW[1])
    axes.locator_params(nbins=5)
    what = "divided by N" if result.settings.divide else "not divided"
    text: Style = {"fontsize": 9, "transform": axes.transAxes, "bbox": LABEL}
    axes.text(0.03, 0.95, "■ right: divided by N", color=GREEN, **text)
    axes.text(0.03, 0.885, f"{'●' if same else '×'} this run: {what}", color=look["color"], **text)


def _draw_lengths(axes: Axes, result: Result) -> None:
    tidy(axes, "How long each update is", "update", "length / due length")
    number = torch.arange(1, UPDATES + 1)
    axes.axhline(1, color=GREEN, linestyle="--", linewidth=1.4)
    axes.axhline(n := result.settings.accumulation_steps, color=GREY, linestyle=":", linewidth=1)
    axes.text(UPDATES + 0.45, n * 1.05, f"N = {n}", color=GREY, fontsize=8.5)
    axes.text(UPDATES + 0.45, 1.05, "as due", color=GREEN, fontsize=8.5)
    axes.plot(number, result.ratios, color=GREY, linewidth=0.8)
    same = (result.ratios - 1).abs() < SAME
    axes.plot(number[same], result.ratios[same], linestyle="", marker="o", color=BLUE)
    axes.plot(number[~same], result.ratios[~same], linestyle="", marker="x", markeredgewidth=1.8, color=VERMILLION)
    axes.set_yscale("log", base=2)
    axes.set(xlim=(0.5, UPDATES + 1.7), ylim=(0.5, 16), xticks=range(1, UPDATES + 1))
    axes.set_yticks([0.5, 1, 2, 4, 8, 16], ["1/2", "1", "2", "4", "8", "16"])
    axes.minorticks_off()
