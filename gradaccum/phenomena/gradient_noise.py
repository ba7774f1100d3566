"""Gradient noise: how much the gradient of a batch depends on the choice of its samples, and how that falls with its size."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import LABEL, Style, tidy
from gradaccum.noise import signal_and_noise
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Gradient noise"
SIZE = (9.6, 3.9)
SAMPLES, FEATURES, DRAWS = 256, 6, 1000
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PLACES = {"the start": 0, "after 3 updates": 3, "after 6 updates": 6}
RATE = 0.15


@dataclass(frozen=True)
class Settings:
    """The effective batch looked at, whether a sample can be in it only once, and the moment of training."""

    batch: int = control(16, "Effective batch, B × N", SIZES)
    replace: bool = control(True, "Draw with replacement")
    updates: int = control(0, "Parameters at", PLACES)


PRESETS = {
    "Without replacement": Settings(batch=128, replace=False),
    "Later in training": Settings(updates=6),
}


@dataclass(frozen=True)
class Result:
    """Averages of gradients over 1,000 batches of every size.

    Attributes:
        variances: ``(9,)``, mean squared distance of a batch's gradient from that of all samples, by size.
        single: the same for single samples, exactly: tr Σ.
        signal: squared length of the gradient of all samples, |G|².
        slope: of the variances on log axes, by least squares, over the sizes up to a quarter of the samples.
    """

    settings: Settings
    variances: Tensor
    single: float
    signal: float
    slope: float

    @property
    def due(self) -> list[float]:
        """What theory says for every size."""
        return [self.single / size * (1 if self.settings.replace else finite_factor(size, SAMPLES)) for size in SIZES]

    @property
    def noise_scale(self) -> float:
        """The simple noise scale: the batch whose noise is as long as the gradient itself."""
        return self.single / self.signal


def finite_factor(batch: float, samples: int) -> float:
    """The factor by which drawing without replacement changes the variance of a mean: (n - B) / (n - 1)."""
    return (samples - batch) / (samples - 1)


def compute(settings: Settings) -> Result:
    """Draw batches of every size and look how far their gradients scatter."""
    each = sample_gradients(settings.updates)
    every = each.mean(0)
    variances = torch.tensor([_scatter(settings.updates, size, settings.replace) for size in SIZES])
    single, few = float((each - every).square().sum(1).mean()), SIZES.index(SAMPLES // 4) + 1
    x, y = torch.tensor(SIZES[:few]).double().log(), variances[:few].log()
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())
    return Result(settings, variances, single, float(every.square().sum()), slope)


@functools.cache
def sample_gradients(updates: int) -> Tensor:
    """``(256, 6)``, the gradient of each sample's loss after some updates with all samples."""
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(SAMPLES, FEATURES, generator=generator, dtype=torch.float64)
    y = x @ torch.linspace(1, -1, FEATURES, dtype=torch.float64) + torch.randn(SAMPLES, generator=generator).double()
    w = torch.zeros(FEATURES, dtype=torch.float64)
    for _ in range(updates):
        w = w - RATE * (2 * (x @ w - y)[:, None] * x).mean(0)
    return 2 * (x @ w - y)[:, None] * x


def scatter(each: Tensor, size: int, replace: bool, draws: int = DRAWS) -> float:
    """Mean squared distance of the mean gradient of ``size`` drawn samples from the mean of all ``(n, P)`` gradients."""
    generator = torch.Generator().manual_seed(size)
    weights = torch.ones(draws, len(each))
    chosen = torch.multinomial(weights, size, replacement=replace, generator=generator)
    return float((each[chosen].mean(1) - each.mean(0)).square().sum(1).mean())


def noise_scales(windows: int, accumulation_steps: int, micro_batch_size: int) -> tuple[list[float], float, float]:
    """The simple noise scale at the start: from each of some windows, from all of them together, and as it is."""
    each, generator = sample_gradients(0), torch.Generator().manual_seed(2)
    shape = (windows, accumulation_steps, micro_batch_size)
    gradients = each[torch.randint(SAMPLES, shape, generator=generator)].mean(2)
    found = [signal_and_noise(list(window), micro_batch_size) for window in gradients]
    signal, noise = (sum(values) for values in zip(*found, strict=True))
    true = (each - each.mean(0)).square().sum(1).mean() / each.mean(0).square().sum()
    return [n / s for s, n in found], noise / signal, float(true)


@functools.cache
def _scatter(updates: int, size: int, replace: bool) -> float:
    return scatter(sample_gradients(updates), size, replace)


def draw(result: Result, figure: Figure) -> None:
    """Variance against batch size on log axes, with what theory says, and the noise compared with the gradient."""
    variances, lengths = figure.add_axes((0.08, 0.13, 0.52, 0.79)), figure.add_axes((0.7, 0.13, 0.28, 0.79))
    _draw_variances(variances, result)
    _draw_lengths(lengths, result)


def describe(result: Result) -> str:
    """How the variance falls, and when noise and gradient are equally long."""
    settings, k = result.settings, SIZES.index(result.settings.batch)
    found, due = float(result.variances[k]), result.due[k]
    where = next(label for label, updates in PLACES.items() if updates == settings.updates)
    moment = "At the start," if settings.updates == 0 else f"{where.capitalize()},"
    if settings.replace:
        law = f"The slope on log axes is {f'{result.slope:.2f}'.replace('-', '−')}, so twice the batch means half the variance"
        said = f"{found:.3g} for the batches of {settings.batch} that were drawn; "
        if settings.batch == 1:
            said += f"over all samples it is {due:.3g}"
        else:
            said += f"1/{settings.batch} of a single sample's variance is {due:.3g}"
    else:
        factor, of_one = finite_factor(settings.batch, SAMPLES), "a single sample's variance"
        of_many = of_one if settings.batch == 1 else f"1/{settings.batch} of {of_one}"
        measured = f"{found:.3g}" if found > 1e-12 else "0, up to rounding,"
        law = f"Without replacement the points leave the line of slope −1 as batches come near all {SAMPLES} samples"
        said = f"{measured} for batches of {settings.batch}; {of_many}, times (n − B)/(n − 1) = {factor:.2f}, is {due:.3g}"
    return (
        f"{moment} the variance is {said}. {law}. Drawn with replacement, noise and gradient are equally "
        f"long at a batch of {result.noise_scale:.3g}, the simple noise scale."
    )


def _draw_variances(axes: Axes, result: Result) -> None:
    settings = result.settings
    tidy(axes, "Variance of the batch gradient", "effective batch", "mean squared distance")
    line = [result.single / size for size in SIZES]
    axes.plot(SIZES, line, color=GREEN, linewidth=5, alpha=0.4)
    if not settings.replace:
        smooth = [2 ** (k / 8) for k in range(8 * 8)]
        curve = [result.single / size * finite_factor(size, SAMPLES) for size in smooth]
        axes.plot(smooth, curve, color=VERMILLION, linestyle="--", linewidth=1.3)
    shown = result.variances > 1e-12
    axes.plot(torch.tensor(SIZES)[shown], result.variances[shown], linestyle="", marker="o", markersize=6, color=BLUE)
    axes.axhline(result.signal, color=GREY, linestyle=":", linewidth=1.4)
    k = SIZES.index(settings.batch)
    if shown[k]:
        axes.plot([settings.batch], [result.variances[k]], marker="o", markersize=13, markerfacecolor="none", color="black")
    _log_axis(axes)
    axes.set_yscale("log")
    axes.set(ylim=(0.001, 200))
    axes.set_yticks([0.001, 0.01, 0.1, 1, 10, 100], ["0.001", "0.01", "0.1", "1", "10", "100"])
    axes.minorticks_off()
    text: Style = {"fontsize": 9, "transform": axes.transAxes, "bbox": LABEL}
    said = [("● 1,000 batches of each size", BLUE), ("▬ slope −1", GREEN)]
    said += [] if settings.replace else [("-- times (n − B)/(n − 1)", VERMILLION)]
    for number, (words, color) in enumerate([*said, ("··· squared length of the gradient", GREY)]):
        axes.text(0.03, 0.25 - 0.07 * number, words, color=color, **text)


def _draw_lengths(axes: Axes, result: Result) -> None:
    tidy(axes, "Noise : gradient", "effective batch", "length of noise / of gradient")
    axes.axhline(1, color=GREY, linestyle=":", linewidth=1.4)
    shown = [
        (size, math.sqrt(v / result.signal)) for size, v in zip(SIZES, result.variances.tolist(), strict=True) if v > 1e-12
    ]
    axes.plot(*zip(*shown, strict=True), color=BLUE, marker="o", markersize=4)
    axes.axvline(result.noise_scale, color=VERMILLION, linestyle="--", linewidth=1.2)
    where = f"simple noise scale {result.noise_scale:.3g}"
    axes.text(0.98, 0.94, where, color=VERMILLION, fontsize=9, ha="right", transform=axes.transAxes, bbox=LABEL)
    _log_axis(axes)
    axes.set_yscale("log")
    axes.set(ylim=(0.05, 40))
    axes.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    axes.minorticks_off()


def _log_axis(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES[::2], [str(size) for size in SIZES[::2]])
    axes.minorticks_off()
    axes.set_xlim(0.8, 330)
