"""Learning rate × effective batch: which rate makes a larger batch train like a small one, and where no rate does."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import BAND, LABEL, Style, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Learning rate × effective batch"
SIZE = (9.8, 3.9)
SAMPLES, RUNS, WIDTH = 8192, 8, 8
"""Samples in an epoch, runs that are averaged over, parameters of the model."""
MICRO_BATCH = 8
STEPS = (4, 8, 16, 32, 64)
NOISE, START = 4.0, 0.5
CURVATURES = torch.logspace(0.6, -0.5, WIDTH, dtype=torch.float64)
RATES = {"SGD": 0.01, "Adam": 0.006}
"""Rates for the small batch; both leave it a noise floor that a larger batch would lower."""
BETAS = (0.9, 0.99)
RULES = ("none", "sqrt", "linear")
MAX_FACTOR = 20.0
"""Where the right picture ends: a curve that is this many times too high has nothing in common with the reference."""

LOOKS: dict[str, Style] = {
    "none": {"color": GREY, "linestyle": ":", "marker": "^"},
    "sqrt": {"color": BLUE, "linestyle": "-.", "marker": "o"},
    "linear": {"color": VERMILLION, "linestyle": "-", "marker": "s"},
}
NAMES = {"none": "rate unchanged", "sqrt": "rate × √N", "linear": "rate × N"}


@dataclass(frozen=True)
class Settings:
    """How many micro-batches of 8 an update averages over, who updates, and what is counted on the x axis."""

    accumulation_steps: int = control(16, "N (micro-batches of 8)", STEPS)
    optimizer: str = control("SGD", "Optimizer", tuple(RATES))
    axis: str = control("samples", "Count", ("samples", "updates"))


PRESETS = {
    "Break": Settings(accumulation_steps=64),
    "Fix": Settings(accumulation_steps=4),
    "Adam": Settings(optimizer="Adam"),
    "Count updates": Settings(axis="updates"),
}


@dataclass(frozen=True)
class Result:
    """Losses beyond what noise makes unavoidable, averaged over runs on the same samples.

    Attributes:
        reference: ``(SAMPLES / 8 + 1,)``, after each update of the small batch at its own rate.
        curves: ``(SAMPLES / 8 / N + 1, 3)``, after each update of the larger batch under each rule.
        factors: ``(5, 3)``, for every N and rule the factor by which its curve typically differs from the reference.
    """

    settings: Settings
    reference: Tensor
    curves: Tensor
    factors: Tensor

    @property
    def factor_by_rule(self) -> dict[str, float]:
        """The factors of the chosen N, by rule."""
        return dict(zip(RULES, self.factors[STEPS.index(self.settings.accumulation_steps)].tolist(), strict=True))


def compute(settings: Settings) -> Result:
    """Train on the same stream of samples with every N under every rule."""
    curves = {n: _curves(settings.optimizer, n) for n in (1, *STEPS)}
    reference = curves[1][:, 0]
    factors = torch.stack([_factor(curves[n], reference[::n]) for n in STEPS])
    return Result(settings, reference, curves[settings.accumulation_steps], factors)


def train(batch: int, rates: tuple[float, ...], optimizer: str) -> Tensor:
    """``(updates + 1, R)``: the excess loss before training and after each update, one epoch, for each of R rates.

    A linear model learns from independent samples with noisy targets. Its excess loss is known exactly, so nothing has to be
    estimated from test data.
    """
    x, noise = _stream()
    w = torch.full((RUNS, len(rates), WIDTH), START, dtype=torch.float64)
    rate = torch.tensor(rates, dtype=torch.float64)[:, None]
    mean, square = torch.zeros_like(w), torch.zeros_like(w)
    losses = [_excess(w)]
    for t, (a, e) in enumerate(zip(x.split(batch, 1), noise.split(batch, 1), strict=True), 1):
        gradient = (w @ a.mT - e[:, None]) @ a / batch
        if optimizer == "Adam":
            mean, square = mean.lerp(gradient, 1 - BETAS[0]), square.lerp(gradient.square(), 1 - BETAS[1])
            gradient = mean / (1 - BETAS[0] ** t) / ((square / (1 - BETAS[1] ** t)).sqrt() + 1e-8)
        w = w - rate * gradient
        losses.append(_excess(w))
    return torch.stack(losses)


def draw(result: Result, figure: Figure) -> None:
    """The curves of the three rules over the reference, and how far every N lies from it."""
    curves, factors = figure.add_axes((0.07, 0.13, 0.52, 0.79)), figure.add_axes((0.69, 0.13, 0.3, 0.79))
    _draw_curves(curves, result)
    _draw_factors(factors, result)


def describe(result: Result) -> str:
    """Which rule follows the small batch, and where each ends."""
    settings, n, factors = result.settings, result.settings.accumulation_steps, result.factor_by_rule
    best = min(factors, key=lambda rule: factors[rule])
    said = ", ".join(f"{_times(factors[rule])} ({NAMES[rule]})" for rule in RULES)
    start = f"{settings.optimizer}, N = {n} (batches of {MICRO_BATCH * n}), 1/{n} of the updates:"
    follows = f"The rule that follows it best is {NAMES[best]}." if factors[best] < 1.5 else "No rule follows it."
    if settings.axis == "updates":
        taken = len(result.reference) // n
        after = float(result.reference[taken])
        ends = ", ".join(f"{in_words(float(result.curves[-1, k]))} ({NAMES[rule]})" for k, rule in enumerate(RULES))
        return f"{start} after {taken} updates the small batch's loss is {in_words(after)}, the large one's is {ends}."
    return f"{start} compared with batches of {MICRO_BATCH}, the loss is off by a factor of {said}. {follows}"


def in_words(loss: float) -> str:
    """A loss, short at any size."""
    return f"{loss:.2g}" if loss < 1000 else f"{loss:.0e}"


def _times(factor: float) -> str:
    return f"{factor:.2f}" if factor < MAX_FACTOR else f"more than {MAX_FACTOR:.0f}"


def _factor(curves: Tensor, reference: Tensor) -> Tensor:
    return (curves.log() - reference.log()[:, None]).abs().mean(0).exp()


@functools.cache
def _curves(optimizer: str, steps: int) -> Tensor:
    rate = RATES[optimizer]
    rates = (rate,) if steps == 1 else (rate, rate * math.sqrt(steps), rate * steps)
    return train(MICRO_BATCH * steps, rates, optimizer)


@functools.cache
def _stream() -> tuple[Tensor, Tensor]:
    """For each run the inputs of its samples and the noise in their targets, the same for every batch size."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(RUNS, SAMPLES, WIDTH, generator=generator, dtype=torch.float64) * CURVATURES.sqrt()
    return x, NOISE * torch.randn(RUNS, SAMPLES, generator=generator, dtype=torch.float64)


def _excess(w: Tensor) -> Tensor:
    return (w.square() * CURVATURES).sum(-1).mean(0) / 2


def _draw_curves(axes: Axes, result: Result) -> None:
    settings, n = result.settings, result.settings.accumulation_steps
    tidy(axes, f"Training with batches of {MICRO_BATCH * n}", settings.axis, "loss beyond the noise")
    counted = 1 if settings.axis == "updates" else MICRO_BATCH
    small = torch.arange(len(result.reference)) * counted
    large = torch.arange(len(result.curves)) * counted * (n if settings.axis == "samples" else 1)
    axes.plot(small, result.reference, color=GREEN, linewidth=5, alpha=0.45)
    text: Style = {"fontsize": 9, "transform": axes.transAxes, "bbox": LABEL}
    axes.text(0.4, 0.94, f"▬ batches of {MICRO_BATCH}, rate unchanged", color=GREEN, **text)
    for k, rule in enumerate(RULES):
        look = LOOKS[rule]
        axes.plot(large, result.curves[:, k], linewidth=1.6, markersize=4, markevery=max(1, len(large) // 16), **look)
        axes.text(0.4, 0.87 - 0.07 * k, f"{'▲●■'[k]} {NAMES[rule]}", color=look["color"], **text)
    axes.set_yscale("log")
    axes.set(ylim=(0.008, 20), xlim=(0, SAMPLES if settings.axis == "samples" else SAMPLES // MICRO_BATCH // STEPS[0]))
    axes.set_yticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    axes.minorticks_off()
    axes.locator_params(axis="x", nbins=5)


def _draw_factors(axes: Axes, result: Result) -> None:
    tidy(axes, f"{result.settings.optimizer}: how far off", "N", "off by a factor of")
    places = range(len(STEPS))
    axes.axvspan(*(STEPS.index(result.settings.accumulation_steps) + d for d in (-0.3, 0.3)), **BAND)
    axes.axhline(1, color=GREEN, linewidth=5, alpha=0.45)
    for k, rule in enumerate(RULES):
        axes.plot(places, result.factors[:, k].clamp(max=MAX_FACTOR * 0.97), linewidth=1.6, markersize=5, **LOOKS[rule])
    axes.set_yscale("log")
    axes.set(ylim=(0.85, MAX_FACTOR), xlim=(-0.4, len(STEPS) - 0.6), xticks=places)
    axes.set_xticks(places, [str(n) for n in STEPS])
    axes.set_yticks([1, 2, 5, 10, MAX_FACTOR], ["1", "2", "5", "10", "≥20"])
    axes.minorticks_off()
