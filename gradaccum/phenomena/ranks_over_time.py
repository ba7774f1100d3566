"""Ranks over time: when ranks wait for each other, for different places of no_sync."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from torch import nn

from gradaccum.collectives import ALL_REDUCE, Collectives
from gradaccum.drawing import ON_DARK, ON_PALE, PALE_BLUE, tidy
from gradaccum.fingerprint import batch_gradient
from gradaccum.loops.ddp import DDP_GALLERY
from gradaccum.phenomena import control
from gradaccum.problems import Problem
from gradaccum.ranks import single_rank
from gradaccum.recording import Loop, record
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Ranks over time"
SIZE = (9.6, 3.9)
RANKS, MICRO_BATCHES, SIZE_OF_ONE = 4, 4, 2
FORWARD, BACKWARD, STEP = 1.0, 2.0, 0.6
"""How long a rank computes, in forward passes; a backward costs about two."""

PLACES = {
    "✗ nowhere": "sync-every",
    "✗ around backward only": "sync-around-backward-only",
    "✓ around forward and backward": "right",
    "✗ everywhere, the last one too": "never-sync",
}
SHORT = {
    "sync-every": "nowhere",
    "sync-around-backward-only": "around\nbackward only",
    "right": "around forward\nand backward",
    "never-sync": "everywhere",
}
WORDS = {
    "sync-every": "Without no_sync,",
    "sync-around-backward-only": "With no_sync around the backward only,",
    "right": "With no_sync around forward and backward of all micro-batches but the last,",
    "never-sync": "With no_sync around everything,",
}
LINKS = {"fast: 0.4 forward passes": 0.4, "medium: 1 forward pass": 1.0, "slow: 3 forward passes": 3.0}
MAX_TIME = MICRO_BATCHES * (FORWARD + BACKWARD + max(LINKS.values()) + STEP)


@dataclass(frozen=True)
class Settings:
    """Where no_sync stands, how many micro-batches a window has, and how long an all-reduce takes."""

    place: str = control("sync-around-backward-only", "no_sync", PLACES)
    accumulation_steps: int = control(4, "N", (1, 2, 4))
    all_reduce: float = control(3.0, "An all-reduce takes", LINKS)


PRESETS = {"Break": Settings(), "Fix": Settings(place="right"), "Drift": Settings(place="never-sync")}


@dataclass(frozen=True)
class Counted:
    """What one rank was seen to do with four micro-batches.

    Attributes:
        kinds: ``"forward"``, ``"backward"``, ``"all-reduce"`` and ``"step"``, in order.
        bytes: that each all-reduce carried.
    """

    kinds: tuple[str, ...]
    bytes: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A stretch of time on every rank; ``number`` is the micro-batch's, or the update's."""

    kind: str
    start: float
    length: float
    number: int


@dataclass(frozen=True)
class Result:
    """What was counted for every place of no_sync, and the time that a model of it makes of this one.

    Attributes:
        counted: by place.
        blocks: in order of time, in forward passes.
        apart: how far the update of a rank is from the mean over ranks, relative to it, where nothing is shared; else 0.
    """

    settings: Settings
    counted: dict[str, Counted]
    blocks: tuple[Block, ...]
    apart: float

    @property
    def own(self) -> Counted:
        return self.counted[self.settings.place]

    @property
    def windows(self) -> int:
        return MICRO_BATCHES // self.settings.accumulation_steps

    @property
    def time(self) -> float:
        return self.blocks[-1].start + self.blocks[-1].length

    @property
    def speed(self) -> float:
        """Samples per time of all ranks, over those of a rank alone, which shares nothing."""
        alone = MICRO_BATCHES * (FORWARD + BACKWARD) + self.windows * STEP
        return RANKS * alone / self.time


def compute(settings: Settings) -> Result:
    """Count the calls, and lay them out in time."""
    counted = _counted()[settings.accumulation_steps]
    kinds = counted[settings.place].kinds
    apart = 0.0 if ALL_REDUCE in kinds else _apart(settings.accumulation_steps)
    return Result(settings, counted, tuple(_blocks(kinds, settings.all_reduce)), apart)


def draw(result: Result, figure: Figure) -> None:
    """Ranks over time on the left, all-reduces per window on the right."""
    _draw_ranks(figure.add_axes((0.065, 0.14, 0.60, 0.75)), result)
    _draw_counts(figure.add_axes((0.80, 0.14, 0.19, 0.75)), result)


def describe(result: Result) -> str:
    """How often and how much is shared per window, what that does to the speed, and whether ranks stay together."""
    n, per_window = result.settings.accumulation_steps, len(result.own.bytes) / result.windows
    batch = SIZE_OF_ONE * n * RANKS
    carried = sum(result.own.bytes) // result.windows
    where = WORDS[result.settings.place]
    said = (
        f"{where} each update averages B × N × W = {SIZE_OF_ONE} × {n} × {RANKS} = {batch} samples"
        if per_window
        else f"{where} each rank uses only its own {SIZE_OF_ONE} × {n} samples, {result.apart:.0%} off the mean over ranks"
    )
    due = sum(result.counted["right"].bytes) // result.windows
    calls = f"{per_window:g} all-reduce{'s' if per_window != 1 else ''} and {carried:,} bytes per window"
    needless = f", where 1 and {due:,} are enough" if per_window > 1 else ""
    return f"{said}: {calls}{needless}. In this model of time, {RANKS} ranks do {result.speed:.1f} times the work of one."


@functools.cache
def _counted() -> dict[int, dict[str, Counted]]:
    """By N and place, every loop run on one rank with a real DistributedDataParallel; cached, as all are looked at."""
    sizes = (SIZE_OF_ONE,) * MICRO_BATCHES
    problems = [Problem(seed=10, accumulation_steps=n, epochs=(sizes,)) for n in (1, 2, 4)]
    with single_rank():
        return {p.accumulation_steps: {place: _count(DDP_GALLERY[place], p) for place in PLACES.values()} for p in problems}


def _count(loop: Loop, problem: Problem) -> Counted:
    kinds: list[str] = []
    carried = Collectives(lambda call: kinds.append(call.kind) if call.kind == ALL_REDUCE else None)

    def wrapped(model: nn.Module, *arguments: object) -> None:
        distributed = nn.parallel.DistributedDataParallel(model)
        with carried:
            loop(distributed, *arguments)

    wanted = ("forward", "backward", "step")
    record(wrapped, problem, on_event=lambda event: kinds.append(event.kind) if event.kind in wanted else None)
    return Counted(tuple(kinds), tuple(call.bytes for call in carried.all_reduces))


def _apart(accumulation_steps: int) -> float:
    """The largest distance of a rank's gradient from the mean over ranks, for the first window."""
    sizes = (SIZE_OF_ONE * accumulation_steps,)
    ranks = [Problem(seed=10, epochs=(sizes,), rank=rank) for rank in range(RANKS)]
    gradients = torch.stack([batch_gradient(one.build_model(), one.loss_fn, one.batches()[0]) for one in ranks])
    mean = gradients.mean(0)
    return float((gradients - mean).norm(dim=1).max() / mean.norm())


def _blocks(kinds: tuple[str, ...], all_reduce: float) -> Iterator[Block]:
    """The model: every rank computes equally fast, and nothing else goes on while gradients travel."""
    lengths = {"forward": FORWARD, "backward": BACKWARD, "step": STEP, ALL_REDUCE: all_reduce}
    now, numbers = 0.0, dict.fromkeys(lengths, 0)
    for kind in kinds:
        numbers[kind] += 1
        yield Block(kind, now, lengths[kind], numbers[kind])
        now += lengths[kind]


LEGEND = {
    0.32: ("forward", PALE_BLUE),
    0.45: ("backward", BLUE),
    0.59: ("update", GREEN),
    0.71: ("all-reduce", GREY),
    0.86: ("needless one", VERMILLION),
}
"""Names of colours, and how far to the right each stands."""

OPACITY = {GREY: 0.6, VERMILLION: 0.85}
"""Of all-reduces, so that the ranks' own blocks stand out."""

COLORS = {"forward": PALE_BLUE, "backward": BLUE, "step": GREEN}


def _draw_ranks(axes: Axes, result: Result) -> None:
    tidy(axes, "What the ranks do", "time in forward passes (a model)")
    for kind, color in COLORS.items():
        mine = [block for block in result.blocks if block.kind == kind]
        alone = kind == "step" and result.apart > 0
        squares = [_square(b.start, b.start + b.length, r - 0.36, r + 0.36) for b in mine for r in range(RANKS)]
        axes.add_collection(
            PolyCollection(
                squares,
                facecolors="white" if alone else color,
                edgecolors=VERMILLION if alone else "white",
                linewidths=1.6 if alone else 1,
                hatch="////" if alone else None,
            )
        )
    shared = [b for b in result.blocks if b.kind == ALL_REDUCE]
    needless = {block.start for block, after in itertools.pairwise(result.blocks) if after.kind != "step"}
    for wrong in (False, True):
        squares = [_square(b.start, b.start + b.length, -0.46, RANKS - 0.54) for b in shared if (b.start in needless) is wrong]
        color = VERMILLION if wrong else GREY
        axes.add_collection(PolyCollection(squares, facecolors=color, alpha=OPACITY[color], edgecolors="white"))
    places = [place * MAX_TIME for place in LEGEND]
    colors = [to_rgba(color, OPACITY.get(color, 1.0)) for _, color in LEGEND.values()]
    axes.scatter(places, [-0.82] * len(places), s=40, marker="s", c=colors, clip_on=False)
    for place, (word, _) in zip(places, LEGEND.values(), strict=True):
        axes.text(place + 0.4, -0.82, word, va="center_baseline", fontsize=8.5)
    for block in shared:
        if block.start in needless or block.length < 1:  # on that colour no text is legible on dark pages, too
            continue
        middle, word = block.start + block.length / 2, "all-reduce"
        axes.text(middle, (RANKS - 1) / 2, word, rotation=90, ha="center", va="center", fontsize=9, color=ON_PALE)
    if result.apart:
        words = f"every rank updates\nwith its own gradient,\n{result.apart:.0%} off the mean"
        axes.text(result.time + 0.5, (RANKS - 1) / 2, words, va="center", fontsize=9.5, color=VERMILLION)
    for block in result.blocks:
        if block.kind in ("forward", "backward"):
            color = ON_DARK if block.kind == "backward" else ON_PALE
            axes.text(block.start + block.length / 2, 0, str(block.number), ha="center", va="center", fontsize=8, color=color)
    axes.set(xlim=(0, MAX_TIME), ylim=(RANKS - 0.4, -0.6), yticks=range(RANKS))
    axes.set_yticklabels([f"rank {r}" for r in range(RANKS)])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _square(left: float, right: float, top: float, bottom: float) -> list[tuple[float, float]]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _draw_counts(axes: Axes, result: Result) -> None:
    tidy(axes, "All-reduces", "per window, counted")
    places = list(PLACES.values())
    counts = [len(result.counted[place].bytes) / result.windows for place in places]
    own = BLUE if len(result.own.bytes) == result.windows else VERMILLION
    colors = [own if place == result.settings.place else "#d5d8dc" for place in places]
    axes.barh(range(len(places)), counts, color=colors, height=0.62)
    for k, place in enumerate(places):
        carried = sum(result.counted[place].bytes) // result.windows
        axes.text(counts[k] + 0.1, k, f"{counts[k]:g}: {carried:,} B" if carried else "none", va="center", fontsize=8.5)
    axes.set(xlim=(0, 7.5), ylim=(len(places) - 0.4, -0.6), yticks=range(len(places)), xticks=(0, 2, 4))
    axes.set_yticklabels([SHORT[place] for place in places], fontsize=8.5)
    axes.text(-0.04, 0.94, "no_sync is …", transform=axes.transAxes, ha="right", fontsize=8.5, color=GREY)
    axes.tick_params(axis="y", length=0)
