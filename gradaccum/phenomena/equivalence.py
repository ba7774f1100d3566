"""B×N equivalence: one batch of B·N samples against N micro-batches of B."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import LABEL, Style, tidy
from gradaccum.fingerprint import batch_gradient
from gradaccum.phenomena import control
from gradaccum.problems import Problem
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "B×N equivalence"
SIZE = (9.6, 3.6)
SAMPLES = 16


@dataclass(frozen=True)
class Settings:
    """How 16 samples are cut, in which precision, and whether each loss is divided by N."""

    accumulation_steps: int = control(4, "Cut 16 samples into", {f"B={SAMPLES // n}, N={n}": n for n in (1, 2, 4, 8, 16)})
    precision: str = control("float32", "Precision", ("float32", "float64"))
    divide: bool = control(True, "Divide by N")


PRESETS = {
    "Break": Settings(divide=False),
    "Fix": Settings(precision="float64"),
}


@dataclass(frozen=True)
class Result:
    """Gradients of the large batch and of the micro-batches.

    Attributes:
        large: ``(P,)``, gradient of one batch of 16.
        partial: ``(N, P)``, what has been accumulated after each micro-batch; the last row is the accumulated gradient.
        difference: the largest difference of the two, relative to the largest component of ``large``.
        rounding: the spacing of numbers of this precision, relative.
    """

    settings: Settings
    large: Tensor
    partial: Tensor
    difference: float
    rounding: float


def compute(settings: Settings) -> Result:
    """Take both gradients at the same parameters."""
    n = settings.accumulation_steps
    problem = Problem(seed=2, accumulation_steps=n, epochs=((SAMPLES // n,) * n,), dtype=settings.precision)
    model = problem.build_model()
    x, y = (torch.cat(parts) for parts in zip(*problem.batches(), strict=True))
    large = batch_gradient(model, problem.loss_fn, (x, y))
    scale = 1 / n if settings.divide else 1.0
    pieces = [batch_gradient(model, problem.loss_fn, batch) * scale for batch in problem.batches()]
    partial = torch.stack(pieces).cumsum(0)
    difference = float((partial[-1] - large).abs().max() / large.abs().max())
    return Result(settings, large, partial, difference, torch.finfo(large.dtype).eps)


def draw(result: Result, figure: Figure) -> None:
    """The cut, the growing sum, and the two gradients against each other."""
    cut, growth, scatter = figure.subplots(1, 3, gridspec_kw={"width_ratios": (1.15, 1, 1)})
    figure.subplots_adjust(left=0.02, right=0.985, bottom=0.15, top=0.89, wspace=0.34)
    _draw_cut(cut, result)
    _draw_growth(growth, result)
    _draw_scatter(scatter, result)


def describe(result: Result) -> str:
    """The measured difference, and whether it is rounding or an error."""
    settings, n = result.settings, result.settings.accumulation_steps
    cut = f"One batch of {SAMPLES} against {n} micro-batch{'es' if n > 1 else ''} of {SAMPLES // n}"
    measured = f"the largest difference is {in_words(result.difference)} of the largest component"
    if is_rounding(result):
        reason = (
            f"rounding: {settings.precision} numbers near 1 are {result.rounding:.1e} apart. The two gradients are the same"
        )
        if result.difference == 0:
            return f"{cut}: the two gradients agree in every digit of {settings.precision}."
        return f"{cut}: {measured}, which is {reason}."
    return f"{cut}: {measured}, far more than rounding. Without the division the sum is {n} times the mean."


def in_words(difference: float) -> str:
    """A relative difference, short."""
    if not difference:
        return "0"
    return f"{difference:.0%}" if difference >= 0.01 else f"{difference:.1e}"


def is_rounding(result: Result) -> bool:
    """Whether the difference is within what N additions of numbers of this precision can leave."""
    return result.difference < 32 * result.rounding


def _draw_cut(axes: Axes, result: Result) -> None:
    n = result.settings.accumulation_steps
    size = SAMPLES // n
    tidy(axes, "The same 16 samples")
    axes.set(xlim=(-0.6, SAMPLES + 0.2), ylim=(-0.35, 2.6), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.text(-0.2, 2.32, "one batch", fontsize=9, color=GREEN)
    axes.text(-0.2, 1.12, f"N = {n} micro-batch{'es' if n > 1 else ''} of B = {size}", fontsize=9, color=BLUE)
    gap = 0.16 if n > 1 else 0.0
    lefts = [k + gap * (k % size == 0) for k in range(SAMPLES)]
    widths = [k + 1 - gap * (k % size == size - 1) - left for k, left in enumerate(lefts)]
    edge: Style = {"edgecolor": "white", "linewidth": 1}
    axes.broken_barh([(k, 1) for k in range(SAMPLES)], (1.7, 0.5), facecolor=GREEN, **edge)
    axes.broken_barh(list(zip(lefts, widths, strict=True)), (0.5, 0.5), facecolor=BLUE, **edge)
    scale = f"1/{n}" if result.settings.divide and n > 1 else "1"
    for k in range(n):
        label = scale if n <= 8 else ("" if k % 2 else scale)
        axes.text(k * size + size / 2, 0.22, label, ha="center", fontsize=8.5, color=BLUE)
    axes.text(SAMPLES / 2, -0.2, "weight of each micro-batch's gradient", ha="center", fontsize=8.5, color=GREY)


def _draw_growth(axes: Axes, result: Result) -> None:
    size = result.large.norm()
    lengths = [0.0, *(result.partial.norm(dim=1) / size).tolist()]
    tidy(axes, "Adding up in .grad", "micro-batches seen", "length / large batch's (log above 2)")
    axes.axhline(1, color=GREEN, linestyle="--", linewidth=1.5)
    axes.text(0.99, 1.06, "large batch", transform=axes.get_yaxis_transform(), fontsize=8.5, color=GREEN, ha="right")
    axes.plot(range(len(lengths)), lengths, color=BLUE, marker="o", markersize=4, linewidth=1.5)
    n = result.settings.accumulation_steps
    axes.set_xlim(-0.04 * n, n * 1.04)
    axes.set_xticks([0, n] if n == 1 else [0, n // 2, n])
    axes.axhline(2, color=GREY, linestyle=":", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=2, linscale=2)
    axes.set_ylim(0, 24)
    axes.set_yticks([0, 1, 2, 4, 8, 16], ["0", "1", "2", "4", "8", "16"])
    axes.minorticks_off()


def _draw_scatter(axes: Axes, result: Result) -> None:
    good = is_rounding(result)
    tidy(axes, f"Largest difference {in_words(result.difference)}", "large batch, component", "accumulated, component")
    limit = 1.15 * float(result.large.abs().max())
    axes.plot([-limit, limit], [-limit, limit], color=GREY, linewidth=1, linestyle="--")
    axes.text(0.58 * limit, 0.36 * limit, "y = x", fontsize=8.5, color=GREY)
    x, y = result.large.double().numpy(), result.partial[-1].double().numpy()
    marker: Style = {"color": BLUE, "marker": "o"} if good else {"color": VERMILLION, "marker": "x"}
    if not good:
        n = result.settings.accumulation_steps
        axes.plot([-limit / n, limit / n], [-limit, limit], color=VERMILLION, linewidth=1, linestyle=":")
        axes.text(0.8 * limit / n, 0.86 * limit, f"y = {n}x  ", fontsize=8.5, color=VERMILLION, ha="right", bbox=LABEL)
    axes.scatter(x, y.clip(-limit, limit), s=16, linewidth=1.2, **marker)
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit))
    axes.locator_params(nbins=5)
