"""BatchNorm divergence: what normalization over a micro-batch does to the gradient and to running statistics."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.drawing import Style, tidy
from gradaccum.phenomena import control
from gradaccum.problems import flat_gradients
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "BatchNorm divergence"
SIZE = (9.6, 3.8)
SAMPLES, FEATURES, WIDTH = 32, 6, 16
CUTS = (1, 2, 4, 8, 16)
UPDATES, DRAWS = 12, 3
MOMENTUM = 0.1
SAME = 1e-9
"""Relative difference up to which two float64 gradients are the same."""

LAYERS = {
    "BatchNorm": lambda: nn.BatchNorm1d(WIDTH, momentum=MOMENTUM),
    "GroupNorm": lambda: nn.GroupNorm(4, WIDTH),
    "LayerNorm": lambda: nn.LayerNorm(WIDTH),
}


@dataclass(frozen=True)
class Settings:
    """Which layer normalizes, into how many micro-batches 32 samples are cut, and whether the momentum takes account of it."""

    normalization: str = control("BatchNorm", "Normalization", tuple(LAYERS))
    accumulation_steps: int = control(16, "N", CUTS[1:])
    corrected: bool = control(False, "Momentum corrected for N")


PRESETS = {
    "Break": Settings(),
    "Correct the momentum": Settings(corrected=True),
    "Fix": Settings("GroupNorm"),
}


@dataclass(frozen=True)
class Result:
    """One large batch and N micro-batches through the same model.

    Attributes:
        cosines: for every cut, the cosine of the accumulated gradient and the large batch's, a mean over three windows.
        differences: for every cut, the length of their difference over that of the large batch's, likewise.
        running, large_running: ``(UPDATES + 1,)``, how much of the distance to the data's mean the running mean has covered,
            by window; empty where there is no running mean.
        momentum: of the layer when it sees micro-batches.
    """

    settings: Settings
    cosines: dict[int, float]
    differences: dict[int, float]
    running: Tensor
    large_running: Tensor
    momentum: float


def compute(settings: Settings) -> Result:
    """The gradients at frozen parameters, and the running mean while windows pass through."""
    n = settings.accumulation_steps
    momentum = 1 - (1 - MOMENTUM) ** (1 / n) if settings.corrected else MOMENTUM
    compared: dict[int, list[Tensor]] = {cut: [] for cut in CUTS}
    for draw_number in range(DRAWS):
        model, batch = build(settings.normalization), window(draw_number)
        large = gradient(model, batch, 1)
        for cut in CUTS:
            small = large if cut == 1 else gradient(model, batch, cut)
            cosine = F.cosine_similarity(small, large, dim=0)
            compared[cut].append(torch.stack([cosine, (small - large).norm() / large.norm()]))
    means = {cut: torch.stack(several).mean(0).tolist() for cut, several in compared.items()}
    return Result(
        settings=settings,
        cosines={cut: cosine for cut, (cosine, _) in means.items()},
        differences={cut: difference for cut, (_, difference) in means.items()},
        running=running_means(settings.normalization, n, momentum),
        large_running=running_means(settings.normalization, 1, MOMENTUM),
        momentum=momentum,
    )


def build(normalization: str) -> nn.Sequential:
    """A small float64 model, the same on every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        first, last = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, 2)
    return nn.Sequential(first, LAYERS[normalization](), nn.Tanh(), last).double()


def window(number: int) -> tuple[Tensor, Tensor]:
    """The 32 samples of a window; inputs have a mean of 1, so that a running mean has some way to go."""
    generator = torch.Generator().manual_seed(100 + number)
    x = 1 + torch.randn(SAMPLES, FEATURES, generator=generator, dtype=torch.float64)
    noise = 0.3 * torch.randn(SAMPLES, 2, generator=generator, dtype=torch.float64)
    return x, torch.stack([x[:, 0] * x[:, 1], x.sum(1) / 3], dim=1) + noise


def gradient(model: nn.Module, batch: tuple[Tensor, Tensor], accumulation_steps: int) -> Tensor:
    """The gradient of a window, accumulated over its micro-batches, as one vector."""
    model.zero_grad()
    parts = (tensor.chunk(accumulation_steps) for tensor in batch)
    for x, y in zip(*parts, strict=True):
        (F.mse_loss(model(x), y) / accumulation_steps).backward()
    return flat_gradients(list(model.parameters()))


@torch.no_grad()
def running_means(normalization: str, accumulation_steps: int, momentum: float) -> Tensor:
    """How much of the distance to the data's mean the running mean has covered after each window."""
    model = build(normalization)
    if normalization != "BatchNorm":
        return torch.empty(0)
    inputs, norm = model[0], model[1]
    assert isinstance(norm, nn.BatchNorm1d)
    norm.momentum = momentum
    target = inputs(torch.ones(FEATURES, dtype=torch.float64))
    shares = [0.0]
    for number in range(UPDATES):
        for x in window(number)[0].chunk(accumulation_steps):
            norm(inputs(x))
        assert norm.running_mean is not None
        shares.append(float(norm.running_mean @ target / (target @ target)))
    return torch.tensor(shares, dtype=torch.float64)


def draw(result: Result, figure: Figure) -> None:
    """The error of the gradient for every cut, and the running mean from window to window."""
    errors = figure.add_axes((0.065, 0.14, 0.4, 0.77))
    running = figure.add_axes((0.57, 0.14, 0.41, 0.77))
    _draw_errors(errors, result)
    _draw_running(running, result)


def describe(result: Result) -> str:
    """How far off the gradient is, and how fast the running mean moves."""
    settings, n = result.settings, result.settings.accumulation_steps
    difference, cosine = result.differences[n], result.cosines[n]
    start = f"{settings.normalization}, N = {n} micro-batches of {SAMPLES // n}:"
    if difference < SAME:
        momentum = "the momentum that you corrected is never used" if settings.corrected else "no momentum needs correcting"
        return (
            f"{start} the accumulated gradient is the large batch's, up to {difference:.0e} of its length: each sample is "
            f"normalized on its own. {settings.normalization} keeps no running statistics, so {momentum}."
        )
    gone, due = float(result.running[1]), float(result.large_running[1])
    said = "as it does with the large batch" if abs(gone - due) < 0.03 else f"where the large batch covers {due:.0%}"
    usual = 1 - (1 - result.momentum) ** n
    chance = f" (expected: {usual:.0%})" if abs(gone - usual) >= 0.03 else ""
    still = " The gradient is as wrong as before: the momentum plays no part in it." if settings.corrected else ""
    return (
        f"{start} the accumulated gradient is {difference:.0%} off the large batch's (cosine {cosine:.2f}; "
        f"means of {DRAWS} windows). After one window the running mean has covered {gone:.0%} of the distance to the true "
        f"mean{chance}, {said} (momentum {result.momentum:.2g}).{still}"
    )


def _draw_errors(axes: Axes, result: Result) -> None:
    tidy(axes, "Error of the accumulated gradient", "N (micro-batches of 32/N samples)", "", y_away=38)
    places, n = range(len(CUTS)), result.settings.accumulation_steps
    exact = result.differences[n] < SAME
    look: Style = {"color": BLUE, "marker": "o"} if exact else {"color": VERMILLION, "marker": "x", "markeredgewidth": 1.8}
    axes.axhline(0, color=GREEN, linestyle="--", linewidth=1.4)
    axes.axhline(1, color=GREY, linestyle=":", linewidth=1.2)
    axes.plot(places, list(result.differences.values()), linewidth=1.2, **look)
    here, error = CUTS.index(n), result.differences[n]
    axes.plot([here], [error], marker="o", markersize=13, markerfacecolor="none", color="black", linestyle="")
    said = f"{error:.0e}" if exact else f"{error:.0%}"
    axes.text(here - 0.16, error + 0.04, said, ha="right", va="bottom", fontsize=9, color=look["color"])
    axes.text(-0.25, 1.02, "as long as the gradient itself", fontsize=9, color=GREY, va="bottom")
    axes.text(-0.25, -0.065, "the large batch's gradient", fontsize=9, color=GREEN, va="top")
    axes.set(xlim=(-0.3, len(CUTS) - 0.6), ylim=(-0.17, 1.5))
    axes.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
    axes.set_xticks(places, [str(cut) for cut in CUTS])


def _draw_running(axes: Axes, result: Result) -> None:
    tidy(axes, "Running mean: share of the distance covered", "windows of 32 samples", "", y_away=38)
    axes.set(xlim=(-0.2, UPDATES + 0.2), ylim=(-0.02, 1.2), xticks=range(0, UPDATES + 1, 2))
    axes.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
    if not len(result.running):
        said = f"{result.settings.normalization} keeps no running statistics"
        axes.text(UPDATES / 2, 0.6, said, ha="center", color=GREY, fontsize=10)
        return
    windows = range(UPDATES + 1)
    axes.plot(windows, result.large_running, color=GREEN, linestyle="--", marker="s", markersize=7, markerfacecolor="white")
    look: Style = {"color": BLUE, "marker": "o"} if result.settings.corrected else {"color": VERMILLION, "marker": "x"}
    axes.plot(windows, result.running, linewidth=1.2, markersize=5, **look)
    text: Style = {"fontsize": 9, "transform": axes.transAxes}
    axes.text(0.4, 0.14, f"□ large batch, momentum {MOMENTUM}", color=GREEN, **text)
    sign = "●" if result.settings.corrected else "×"
    axes.text(0.4, 0.06, f"{sign} micro-batches, momentum {result.momentum:.2g}", color=look["color"], **text)
