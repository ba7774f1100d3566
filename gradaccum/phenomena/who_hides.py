"""Who hides the mistake: the same wrong scale under five optimizers, and how much of it is to be seen at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import BAND, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Who hides the mistake"
SIZE = (9.2, 3.6)
SAMPLES = 16
MAX_NORM = 1.0
VISIBLE = 1e-3
"""Runs that end less than a thousandth of the distance they go apart look the same in any plot."""

ROUNDING = 1e-12

MISTAKES = {"no 1/N": "none", "1/N twice": "twice", "no mistake": "right"}


@dataclass(frozen=True)
class Settings:
    """What is done to the gradient, into how many micro-batches 16 samples are cut, and how long the runs are."""

    mistake: str = control("none", "Mistake", MISTAKES)
    accumulation_steps: int = control(4, "N", (2, 4, 8))
    updates: int = control(10, "Updates", (1, 3, 10))


PRESETS = {
    "Break": Settings(),
    "First update only": Settings(updates=1),
    "Fix": Settings(mistake="right"),
}

OPTIMIZERS: dict[str, Callable[[Tensor], torch.optim.Optimizer]] = {
    "SGD": lambda w: torch.optim.SGD([w], lr=0.05),
    "SGD + momentum": lambda w: torch.optim.SGD([w], lr=0.01, momentum=0.9),
    "SGD + clipping": lambda w: torch.optim.SGD([w], lr=0.4),
    "RMSprop": lambda w: torch.optim.RMSprop([w], lr=0.05),
    "AdamW": lambda w: torch.optim.AdamW([w], lr=0.05),
}


@dataclass(frozen=True)
class Result:
    """By optimizer, how far a run with the mistake ends from the right one, over the distance the right one went."""

    settings: Settings
    differences: dict[str, float]


def compute(settings: Settings) -> Result:
    """Train with and without the mistake, under every optimizer."""
    differences = {}
    for name in OPTIMIZERS:
        found = train(name, settings.mistake, settings.accumulation_steps, settings.updates)
        due = train(name, "large", 1, settings.updates)
        differences[name] = float((found - due).norm() / (due - START).norm())
    return Result(settings, differences)


START = torch.tensor([1.5, -1.0, 0.5], dtype=torch.float64)


@cache
def train(optimizer: str, mistake: str, accumulation_steps: int, updates: int) -> Tensor:
    """Where a run ends: linear regression on 16 samples; ``mistake`` is ``"large"`` for one batch per update."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(SAMPLES, 3, generator=generator, dtype=torch.float64)
    y = x @ torch.tensor([-1.0, 2.0, 1.0], dtype=torch.float64)
    y += 0.3 * torch.randn(SAMPLES, generator=generator, dtype=torch.float64)
    w = START.clone().requires_grad_()
    update = OPTIMIZERS[optimizer](w)
    share = {"none": 1, "twice": accumulation_steps**2}.get(mistake, accumulation_steps)
    for _ in range(updates):
        for a, b in zip(x.chunk(accumulation_steps), y.chunk(accumulation_steps), strict=True):
            (torch.nn.functional.mse_loss(a @ w, b) / share).backward()
        if "clipping" in optimizer:
            torch.nn.utils.clip_grad_norm_([w], MAX_NORM)
        update.step()
        update.zero_grad()
    return w.detach()


def draw(result: Result, figure: Figure) -> None:
    """One line for each optimizer: how far the mistake drove it."""
    axes = figure.add_axes((0.17, 0.15, 0.8, 0.75))
    _draw_differences(axes, result)


def describe(result: Result) -> str:
    """Who shows it, who hides it, with the numbers."""
    settings = result.settings
    what = {"none": "No 1/N", "twice": "Divided by N twice", "right": "No mistake"}[settings.mistake]
    after = f"{settings.updates} update{'s' if settings.updates > 1 else ''}"
    start = f"{what}, N = {settings.accumulation_steps}, {after}:"
    if settings.mistake == "right":
        most = max(result.differences.values())
        exact = f"up to {most:.0e} of the distance covered" if most else "to the last bit"
        end = f"where the large batch's ends, {exact}"
        return f"{start} under every optimizer the run ends {end}."
    shown = [f"{_percent(value)} ({key})" for key, value in result.differences.items() if value >= VISIBLE]
    hidden = [f"{key} ({value:.0e})" for key, value in result.differences.items() if value < VISIBLE]
    return (
        f"{start} these runs visibly miss the right end, by this share of the distance covered: {_listed(shown)}. "
        f"The mistake does not show under {_listed(hidden)}: their loss curves would look right."
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share < 1e4 else f"{100 * share:.0e}%"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


LEFT, RIGHT = 1e-17, 1e3


def _draw_differences(axes: Axes, result: Result) -> None:
    after = f"{result.settings.updates} update{'s' if result.settings.updates > 1 else ''}"
    tidy(
        axes,
        f"How far from the right run, after {after}",
        "distance between the two ends / distance that the right run covers",
        "",
    )
    axes.axvspan(LEFT, VISIBLE, **BAND)
    axes.axvline(VISIBLE, color=GREY, linestyle=":", linewidth=1.2)
    axes.text(VISIBLE / 2, -0.62, "looks right in any plot", ha="right", va="center", fontsize=9, color=GREY)
    axes.text(VISIBLE * 2, -0.62, "can be seen", ha="left", va="center", fontsize=9, color=GREY)
    for place, value in enumerate(result.differences.values()):
        seen, same = value >= VISIBLE, value < ROUNDING
        color, marker = (VERMILLION, "x") if seen else (GREEN, "s") if same else (BLUE, "o")
        shown = min(max(value, 3 * LEFT), RIGHT / 30)
        axes.plot([LEFT, shown], [place, place], color=color, linewidth=2)
        axes.plot([shown], [place], color=color, marker=marker, markersize=8, markeredgewidth=2)
        said = _percent(value) if seen else f"{value:.0e}" if value else "0"
        axes.text(shown * 3, place, said, va="center", fontsize=9.5, color=color, fontweight="bold")
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set(xlim=(LEFT, RIGHT), ylim=(len(result.differences) - 0.5, -1))
    axes.set_xticks([1e-16, 1e-12, 1e-8, 1e-4, 1], ["1e-16", "1e-12", "1e-8", "1e-4", "1"])
    axes.set_yticks(range(len(result.differences)), list(result.differences))
