"""Low-precision sums: what is lost when many micro-batch gradients are added up in bfloat16, float16 or float32."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import LABEL, Style, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Low-precision sums"
SIZE = (9.6, 3.7)
MAX_ADDENDS = 4096
COMPONENTS = 32
NOWHERE = 1e-9
"""Where an error of exactly 0 is drawn on a logarithmic axis: at its lower end."""

LOOKS: dict[str, Style] = {
    "bfloat16": {"color": VERMILLION, "marker": "x", "linestyle": "-"},
    "float16": {"color": BLUE, "marker": "o", "linestyle": "--"},
    "float32": {"color": GREEN, "marker": "s", "linestyle": ":"},
}
"""Every dtype has a colour, a marker and a kind of line."""

NOISE = {"equal": 0.0, "alike": 0.3, "different": 3.0}
"""How much addends scatter around 1."""


@dataclass(frozen=True)
class Settings:
    """What is added up, in which dtype, and how many addends are looked at."""

    addends: str = control("equal", "Addends", {"all 1": "equal", "alike": "alike", "like gradients": "different"})
    precision: str = control("bfloat16", "The sum is kept in", tuple(LOOKS))
    count: int = control(1024, "N", (4, 64, 256, 1024, 4096))


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(precision="float32"),
    "Like gradients": Settings(addends="different"),
}


@dataclass(frozen=True)
class Result:
    """Sums of the first 1, 2, 4, … addends, each component separately.

    Attributes:
        counts: how many addends.
        sums: for each dtype ``(len(counts), 32)``, the running sum it holds.
        exact: ``(len(counts), 32)``, the same sums in float64.
    """

    settings: Settings
    counts: list[int]
    sums: dict[str, Tensor]
    exact: Tensor

    def error(self, precision: str) -> Tensor:
        """``(len(counts),)``, relative to the exact sum."""
        return (self.sums[precision] - self.exact).norm(dim=1) / self.exact.norm(dim=1)

    @property
    def place(self) -> int:
        """Where the chosen N stands among the counts."""
        return self.counts.index(self.settings.count)


def compute(settings: Settings) -> Result:
    """Add up, one addend after the other, in every dtype."""
    counts = [2**k for k in range(MAX_ADDENDS.bit_length())]
    exact, sums = _running_sums(settings.addends)
    return Result(settings, counts, sums, exact)


@cache
def _running_sums(addends: str) -> tuple[Tensor, dict[str, Tensor]]:
    """Every addend is a bfloat16 number, so it enters every sum exactly, and what goes wrong is the sum's fault alone."""
    generator = torch.Generator().manual_seed(6)
    values = (1 + NOISE[addends] * torch.randn(MAX_ADDENDS, COMPONENTS, generator=generator)).to(torch.bfloat16)
    kept = [2**k - 1 for k in range(MAX_ADDENDS.bit_length())]
    sums = {}
    for name in LOOKS:
        total, running = torch.zeros(COMPONENTS, dtype=getattr(torch, name)), []
        for count, value in enumerate(values.to(total.dtype), 1):
            total += value
            if count & (count - 1) == 0:
                running.append(total.double())
        sums[name] = torch.stack(running)
    return values.double().cumsum(0)[kept], sums


def draw(result: Result, figure: Figure) -> None:
    """The errors of all dtypes, and the sum that the chosen one holds."""
    errors, sums = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.078, right=0.985, bottom=0.14, top=0.91, wspace=0.22)
    _draw_errors(errors, result)
    _draw_sums(sums, result)


def describe(result: Result) -> str:
    """What the sum holds at the chosen N, how wrong that is, and how wrong float32 is, or bfloat16 if float32 is chosen."""
    settings, place = result.settings, result.place
    name, n = settings.precision, settings.count
    held, due = float(result.sums[name][place].mean()), float(result.exact[place].mean())
    error = float(result.error(name)[place])
    kind = {"equal": "all equal to 1", "alike": "around 1", "different": "from far below to far above 0"}[settings.addends]
    added = f"Added up in {name}, {n:,} addends {kind}"
    if settings.addends == "equal":
        start = f"{added} make {held:,.1f} where {due:,.1f} is right; the error is {in_words(error)}."
        if error > 0.1:
            start = f"{start} It stopped growing at {held:,.0f}: {held:,.0f} + 1 is rounded to {held:,.0f}."
    else:
        off = f"typically off by {in_words(error)}" if error else "exact"
        instead = "" if f"{held:.1f}" == f"{due:.1f}" else f", not {due:,.1f}"
        start = f"{added} have a sum that is {off}; the mean of {COMPONENTS} sums is {held:,.1f}{instead}."
    other = "bfloat16" if name == "float32" else "float32"
    its_error = float(result.error(other)[place])
    return f"{start} {other} is {f'off by {in_words(its_error)}' if its_error else 'exact'} here."


def typically_off(count: int) -> str:
    """How far a bfloat16 sum of so many addends of both signs is off, in words."""
    result = compute(Settings("different", count=count))
    return in_words(float(result.error("bfloat16")[result.place]))


def in_words(error: float) -> str:
    """A relative error, short."""
    if error >= 1e-5:
        return f"{100 * error:.2g}%"
    return f"{error:.0e}" if error else "exactly 0"


def _draw_errors(axes: Axes, result: Result) -> None:
    tidy(axes, "How wrong the sum is", "N, micro-batches added up", "relative error", y_away=50)
    for name, look in LOOKS.items():
        chosen = name == result.settings.precision
        values = result.error(name).clamp(min=NOWHERE)
        axes.plot(result.counts, values, markersize=5 if chosen else 3, linewidth=2 if chosen else 1, **look)
    _log_axes(axes, (NOWHERE / 2, 30), [1e-9, 1e-6, 1e-3, 1], ["0", "0.0001%", "0.1%", "100%"])
    axes.axvline(result.settings.count, color=GREY, linewidth=0.8)
    place: Style = {"fontsize": 9, "transform": axes.transAxes}
    for k, (name, look) in enumerate(LOOKS.items()):
        sign = {"x": "×", "o": "●", "s": "■"}[look["marker"]]
        axes.text(0.03 + 0.24 * k, 0.935, f"{sign} {name}", color=look["color"], bbox=LABEL, **place)


def _draw_sums(axes: Axes, result: Result) -> None:
    name = result.settings.precision
    tidy(axes, f"The sum in {name}", "N, micro-batches added up", f"mean of {COMPONENTS} sums", y_away=40)
    axes.plot(result.counts, result.exact.mean(1), color="black", linestyle="--", linewidth=1)
    axes.plot(result.counts, result.sums[name].mean(1), markersize=5, linewidth=2, **LOOKS[name])
    _log_axes(axes, (0.3, 9000), [1, 16, 256, 4096], ["1", "16", "256", "4,096"])
    axes.axvline(result.settings.count, color=GREY, linewidth=0.8)
    axes.text(0.05, 0.9, "- - right", fontsize=9, transform=axes.transAxes)


def _log_axes(axes: Axes, limits: tuple[float, float], ticks: list[float], labels: list[str]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlim=(0.8, 1.3 * MAX_ADDENDS), ylim=limits)
    axes.set_xticks([1, 4, 16, 64, 256, 1024, 4096], ["1", "4", "16", "64", "256", "1,024", "4,096"])
    axes.set_yticks(ticks, labels)
    axes.minorticks_off()
