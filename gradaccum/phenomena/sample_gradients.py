"""Gradients of samples: in a model of two parameters every sample's gradient is an arrow, and a batch's is their average."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn import functional as F

from gradaccum.drawing import Style, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Gradients of samples"
SIZE = (9.8, 3.8)
SAMPLES, BATCHES = 64, 200
SLOPE, SHIFT = 0.1, 0.2
"""Where the model w·x + b stands. The data were made with w = 1, b = -0.4 and noise."""
ACROSS, UP = (-9.4, 2.0), (-4.7, 6.7)
"""What the gradient plane shows: every sample's gradient, and words below them."""


@dataclass(frozen=True)
class Settings:
    """Which of 64 samples make the batch, and whether their gradients are averaged or only added up."""

    batch_size: int = control(8, "Samples in the batch, B", (1, 2, 4, 8, 16, 32, 64))
    batch: int = control(1, "Batch no.", range(1, 21))
    divide: bool = control(True, "Divide by B")


PRESETS = {
    "Break": Settings(divide=False),
    "One sample": Settings(batch_size=1),
    "All samples": Settings(batch_size=64),
}


@dataclass(frozen=True)
class Result:
    """Gradients ``(∂loss/∂w, ∂loss/∂b)``, all at the same w and b.

    Attributes:
        x, y: ``(64,)`` the samples.
        members: ``(B,)`` which of them are in the batch.
        each: ``(64, 2)`` the gradient of every sample's own loss.
        combined: ``(2,)`` average (or sum) of those in the batch.
        by_backward: ``(2,)`` what one ``backward()`` on the batch's mean loss leaves in ``.grad``.
        averages: ``(200, 2)`` averages over other batches of the same size.
    """

    settings: Settings
    x: Tensor
    y: Tensor
    members: Tensor
    each: Tensor
    combined: Tensor
    by_backward: Tensor
    averages: Tensor

    @property
    def typical_distance(self) -> float:
        """Root mean square distance of a batch's average from the average over all samples."""
        return float((self.averages - self.each.mean(0)).square().sum(1).mean().sqrt())

    @property
    def difference(self) -> float:
        """Distance between the combined gradient and backward's, relative to the latter."""
        return float((self.combined - self.by_backward).norm() / self.by_backward.norm())


def compute(settings: Settings) -> Result:
    """Ask autograd for every sample's gradient, and for the batch's."""
    generator = torch.Generator().manual_seed(11)
    x = torch.rand(SAMPLES, generator=generator, dtype=torch.float64) * 3 - 1.5
    y = x - 0.4 + 0.5 * torch.randn(SAMPLES, generator=generator, dtype=torch.float64)
    w, b = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (SLOPE, SHIFT))

    def gradient(members: Tensor) -> Tensor:
        loss = F.mse_loss(w * x[members] + b, y[members])
        return torch.stack(torch.autograd.grad(loss, (w, b)))

    each = torch.stack([gradient(torch.tensor([k])) for k in range(SAMPLES)])
    draws = torch.rand(BATCHES, SAMPLES, generator=generator).argsort(1)[:, : settings.batch_size]
    members = draws[settings.batch - 1]
    combined = each[members].mean(0) if settings.divide else each[members].sum(0)
    return Result(settings, x, y, members, each, combined, gradient(members), each[draws].mean(1))


def draw(result: Result, figure: Figure) -> None:
    """The data, the arrows of the batch's samples with their average, and the averages of other batches."""
    data, arrows, cloud = figure.subplots(1, 3, gridspec_kw={"width_ratios": (0.8, 1, 1)})
    figure.subplots_adjust(left=0.05, right=0.99, bottom=0.14, top=0.9, wspace=0.26)
    _draw_data(data, result)
    _draw_arrows(arrows, result)
    _draw_cloud(cloud, result)


def describe(result: Result) -> str:
    """How the batch's gradient comes from those of its samples, and how much depends on the choice of samples."""
    size, lengths = result.settings.batch_size, result.each[result.members].norm(dim=1)
    short, long = float(lengths.min()), float(lengths.max())
    who = f"The {size} samples' gradients are {short:.1f} to {long:.1f} long" if size > 1 else "One sample, one gradient"
    if result.difference > 1e-9:
        return (
            f"{who}. Added up and not divided, they make an arrow {float(result.combined.norm()):.1f} long: "
            f"{1 + result.difference:.0f} times the gradient of the batch, which is their average."
        )
    ending = (
        f"The average of another batch of {size} is typically {result.typical_distance:.2f} away from the gradient of all "
        f"{SAMPLES} samples."
    )
    if size == SAMPLES:
        ending = "There is only one batch of all samples, so nothing depends on the choice any more."
    same = "Their average is what backward() gives for the batch" if size > 1 else "It is what backward() gives for the batch"
    rounding = f" up to rounding ({result.difference:.0e})" if result.difference else ", here to the last digit"
    return f"{who}. {same}{rounding}. {ending}"


def _draw_data(axes: Axes, result: Result) -> None:
    tidy(axes, f"{result.settings.batch_size} of {SAMPLES} samples", "x", "y")
    x, y, members = result.x, result.y, result.members
    axes.vlines(x[members], y[members], SLOPE * x[members] + SHIFT, color=BLUE, linewidth=1, alpha=0.6)
    axes.plot(x, y, linestyle="", marker="o", markersize=3.5, markerfacecolor="white", color="#9a9a9a")
    axes.plot(x[members], y[members], linestyle="", marker="o", markersize=4.5, color=BLUE)
    axes.plot([-1.6, 1.6], [SLOPE * -1.6 + SHIFT, SLOPE * 1.6 + SHIFT], color="black", linewidth=1.5)
    axes.text(-1.55, SLOPE * -1.6 + SHIFT + 0.12, "model", fontsize=9)
    axes.set(xlim=(-1.65, 1.65), ylim=(-3.3, 2.1), xticks=[-1, 0, 1], yticks=[-2, 0, 2])


def _draw_arrows(axes: Axes, result: Result) -> None:
    size, divide = result.settings.batch_size, result.settings.divide
    said = "average" if divide else "sum"
    _gradient_plane(axes, "Their gradients" if size > 1 else "Its gradient")
    tips = result.each[result.members]
    zeros = torch.zeros(len(tips))
    arrow: Style = {"angles": "xy", "scale_units": "xy", "scale": 1}
    axes.quiver(zeros, zeros, tips[:, 0], tips[:, 1], color=BLUE, width=0.006, alpha=0.65, **arrow)
    dx, dy = result.combined.tolist()
    axes.quiver([0], [0], [dx], [dy], color=VERMILLION, width=0.017, zorder=3, **arrow)
    bx, by = result.by_backward.tolist()
    axes.plot([bx], [by], marker="o", markersize=13, markerfacecolor="none", color="black", markeredgewidth=1.5, zorder=4)
    inside = dx > ACROSS[0] and dy < UP[1]
    words = f"{said} of {size}" if size > 1 else "one sample"
    axes.text(0.03, 0.11, f"➞ {words}{'' if inside else ', outside'}", color=VERMILLION, fontsize=9.5, transform=axes.transAxes)
    axes.text(0.03, 0.035, "○ backward() on the batch", fontsize=9.5, transform=axes.transAxes)


def _draw_cloud(axes: Axes, result: Result) -> None:
    _gradient_plane(axes, f"Averages of {BATCHES} batches of {result.settings.batch_size}")
    axes.plot(*result.averages.T, linestyle="", marker=".", markersize=5, color=BLUE, alpha=0.45)
    axes.plot(*result.each.mean(0)[:, None], marker="*", markersize=14, color=GREEN, markeredgecolor="white", zorder=3)
    bx, by = result.by_backward.tolist()
    axes.plot([bx], [by], marker="o", markersize=13, markerfacecolor="none", color="black", markeredgewidth=1.5, zorder=4)
    axes.text(0.03, 0.11, f"★ all {SAMPLES} samples", color=GREEN, fontsize=9.5, transform=axes.transAxes)
    axes.text(0.03, 0.035, f"○ batch no. {result.settings.batch}", fontsize=9.5, transform=axes.transAxes)


def _gradient_plane(axes: Axes, title: str) -> None:
    tidy(axes, title, "∂loss / ∂w", "∂loss / ∂b")
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.set(xlim=ACROSS, ylim=UP, xticks=[-8, -4, 0], yticks=[0, 4])
    axes.set_aspect("equal", adjustable="box")
