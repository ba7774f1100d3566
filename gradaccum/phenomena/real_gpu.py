"""What micro-batches of a language model need and how fast they are, recorded on a real GPU."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gradaccum.drawing import LABEL, PALE_BLUE, bar, label_columns, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREY, VERMILLION

TITLE = "On a real GPU"
SIZE = (9.8, 3.6)
GB = 10**9
RECORDED = Path(__file__).with_name("recorded") / "transformer_on_a_gpu.json"
"""Written by ``python benchmarks/gpu_transformer.py --write``, which holds the experiment."""

SEQUENCES = 128
CUTS = tuple(SEQUENCES // size for size in (1, 2, 4, 8, 16, 32, 64, 128))


@dataclass(frozen=True)
class Settings:
    """How 128 sequences are cut, and how much memory there is."""

    accumulation_steps: int = control(1, "Cut 128 sequences into", {f"B={SEQUENCES // n}, N={n}": n for n in reversed(CUTS)})
    memory: int = control(80, "Memory of the GPU", {f"{size} GB": size for size in (16, 24, 48, 80, 141)})


PRESETS = {"Break": Settings(), "Fix": Settings(2)}


@dataclass(frozen=True)
class Measurement:
    """One way to cut an update.

    Attributes:
        size: sequences in a micro-batch.
        accumulation_steps: micro-batches in an update.
        bytes: what ``torch.cuda.max_memory_allocated`` says after several updates.
        seconds: an update takes.
        tokens_per_second: trained.
    """

    size: int
    accumulation_steps: int
    bytes: int
    seconds: float
    tokens_per_second: float


@dataclass(frozen=True)
class Recording:
    """All that was recorded of one run of the experiment, smallest micro-batches first."""

    device: str
    torch: str
    date: str
    parameters: int
    measured: tuple[Measurement, ...]

    @property
    def fixed_bytes(self) -> int:
        """Computed: in float32 weights, gradients and two states of AdamW, and a copy of the weights in bfloat16."""
        return (4 * 4 + 2) * self.parameters


@dataclass(frozen=True)
class Result:
    """The recording, and which of it is shown."""

    settings: Settings
    recording: Recording

    @property
    def chosen(self) -> Measurement:
        return next(one for one in self.recording.measured if one.accumulation_steps == self.settings.accumulation_steps)

    @property
    def largest_that_fits(self) -> Measurement:
        return [one for one in self.recording.measured if self.fits(one)][-1]

    def fits(self, one: Measurement) -> bool:
        return one.bytes <= self.settings.memory * GB


@functools.cache
def recording() -> Recording:
    """What is in the package."""
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    measured = tuple(Measurement(**one) for one in found["sizes"])
    return Recording(found["device"], found["torch"], found["date"], found["parameters"], measured)


def compute(settings: Settings) -> Result:
    """Look it up: nothing is run."""
    return Result(settings, recording())


def draw(result: Result, figure: Figure) -> None:
    """Bytes and tokens per second for every cut."""
    needed, speed = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.06, right=0.985, bottom=0.17, top=0.89, wspace=0.16)
    _draw_bytes(needed, result)
    _draw_speed(speed, result)


def describe(result: Result) -> str:
    """What the chosen cut needs and costs, and what the largest that fits does."""
    settings, chosen, best = result.settings, result.chosen, result.largest_that_fits
    fastest = max(one.tokens_per_second for one in result.recording.measured)
    fit = f"fits into {settings.memory} GB" if result.fits(chosen) else f"does not fit into {settings.memory} GB"
    said = (
        f"B={chosen.size}, N={chosen.accumulation_steps}: {chosen.bytes / GB:.1f} GB, which {fit}; an update of {SEQUENCES} "
        f"sequences takes {chosen.seconds:.2f} seconds, at {chosen.tokens_per_second / fastest:.0%} of the highest speed. "
    )
    if best != chosen:
        said += (
            f"The largest that fits is B={best.size}, N={best.accumulation_steps}, at "
            f"{best.tokens_per_second / fastest:.0%} of the highest speed. "
        )
    where = result.recording
    return said + (
        f"Recorded on an {where.device}, {where.date}, for a transformer of {where.parameters / 1e6:.0f} million parameters."
    )


def _draw_bytes(axes: Axes, result: Result) -> None:
    tidy(axes, "Memory at its highest, in GB", "", "")
    measured, memory, fixed = result.recording.measured, result.settings.memory, result.recording.fixed_bytes / GB
    places = range(len(measured))
    heights = [one.bytes / GB for one in measured]
    axes.add_collection(PolyCollection([bar(k, 0, fixed) for k in places], facecolors=GREY, edgecolors="white", linewidths=0.6))
    rest = [bar(k, fixed, high) for k, high in zip(places, heights, strict=True)]
    axes.add_collection(PolyCollection(rest, facecolors=_shades(result), edgecolors="white", linewidths=0.6))
    axes.axhline(memory, color=VERMILLION, linestyle="--", linewidth=1.6)
    axes.text(-0.45, memory + 2, f"the GPU has {memory}", color=VERMILLION, fontsize=9)
    _write_above(axes, result, heights, 2.5)
    axes.text(0.02, 0.72, "■ grows with B", color=BLUE, fontsize=9.5, transform=axes.transAxes)
    axes.text(0.02, 0.645, "■ fixed: weights, gradients, state", color=GREY, fontsize=9.5, transform=axes.transAxes)
    axes.set(xlim=(-0.5, len(measured) - 0.5), ylim=(0, 168), yticks=[0, 50, 100, 150])
    _name_cuts(axes, measured)


def _draw_speed(axes: Axes, result: Result) -> None:
    tidy(axes, "Thousand tokens per second", "", "")
    measured = result.recording.measured
    heights = [one.tokens_per_second / 1000 for one in measured]
    boxes = [bar(k, 0, high) for k, high in enumerate(heights)]
    axes.add_collection(PolyCollection(boxes, facecolors=_shades(result), edgecolors="white", linewidths=0.6))
    _write_above(axes, result, heights, 3.0)
    if any(one.bytes / GB > result.settings.memory for one in measured):
        axes.text(0.02, 0.93, "orange: more than the GPU has", color=VERMILLION, fontsize=9.5, transform=axes.transAxes)
    axes.set(xlim=(-0.5, len(measured) - 0.5), ylim=(0, 215), yticks=[0, 50, 100, 150, 200])
    _name_cuts(axes, measured)


def _write_above(axes: Axes, result: Result, heights: list[float], space: float) -> None:
    """The heights of the bars, as numbers."""
    for place, (one, height) in enumerate(zip(result.recording.measured, heights, strict=True)):
        weight = "bold" if one == result.chosen else "normal"
        color = "black" if result.fits(one) else VERMILLION
        axes.text(
            place,
            height + space,
            f"{height:.0f}",
            ha="center",
            fontsize=9,
            fontweight=weight,
            color=color,
            bbox=LABEL,
            zorder=4,
        )


def _shades(result: Result) -> list[str]:
    return [BLUE if one == result.chosen else PALE_BLUE for one in result.recording.measured]


def _name_cuts(axes: Axes, measured: tuple[Measurement, ...]) -> None:
    label_columns(axes, {k: f"B={one.size}\nN={one.accumulation_steps}" for k, one in enumerate(measured)})
