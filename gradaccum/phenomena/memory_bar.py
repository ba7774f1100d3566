"""Where the memory goes: weights, gradients, optimizer state and activations, for one batch cut into N micro-batches."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from gradaccum.drawing import PALE_BLUE, bar, tidy
from gradaccum.memory import bytes_held, saved_tensors
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, PURPLE, VERMILLION

TITLE = "Where the memory goes"
SIZE = (9.8, 3.9)
SAMPLES, WIDTH, BLOCKS = 512, 48, 4
CUTS = (1, 2, 4, 8, 16)
KIB = 1024
BUDGET = 850 * KIB


@dataclass(frozen=True)
class Settings:
    """How 512 samples are cut, who updates, and whether activations are computed again instead of kept."""

    accumulation_steps: int = control(1, "Cut 512 samples into", {f"B={SAMPLES // n}, N={n}": n for n in CUTS})
    optimizer: str = control("AdamW", "Optimizer", ("SGD", "SGD with momentum", "AdamW"))
    checkpointing: bool = control(False, "Activation checkpointing")


PRESETS = {"Break": Settings(), "Fix": Settings(accumulation_steps=4)}


@dataclass(frozen=True)
class Memory:
    """Bytes in memory at the end of a micro-batch's forward pass, when there is most of it; all measured.

    Attributes:
        weights, gradients, state: of the model and its optimizer, after an update.
        activations: what autograd keeps of one micro-batch, and what a checkpointed block needs while it is computed again.
        peak: on CUDA, what ``torch.cuda.max_memory_allocated`` says of the whole window; else None.
    """

    weights: int
    gradients: int
    state: int
    activations: int
    peak: int | None = None

    @property
    def fixed(self) -> int:
        return self.weights + self.gradients + self.state

    @property
    def total(self) -> int:
        return self.fixed + self.activations


@dataclass(frozen=True)
class Result:
    """Memory for every cut, and the line that predicts it.

    Attributes:
        measured: by N.
        fixed, per_sample: the line ``bytes = fixed + per_sample · B``, drawn through the two smallest micro-batches.
        device: where it was measured.
    """

    settings: Settings
    measured: dict[int, Memory]
    fixed: float
    per_sample: float
    device: str

    @property
    def chosen(self) -> Memory:
        return self.measured[self.settings.accumulation_steps]


class Stack(nn.Module):
    """Blocks of two linear layers, each of which can be checkpointed."""

    def __init__(self, checkpointing: bool):
        super().__init__()
        self.checkpointing = checkpointing
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(BLOCKS)
        )

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointing else block(x)
        return x


def compute(settings: Settings) -> Result:
    """Train one window for every cut, and add up the bytes of what is there."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    measured = _measured(settings.optimizer, settings.checkpointing, device)
    (n, m) = CUTS[-2:]
    large, small = SAMPLES // n, SAMPLES // m
    per_sample = (measured[n].total - measured[m].total) / (large - small)
    return Result(settings, measured, measured[m].total - per_sample * small, per_sample, device)


@functools.cache
def _measured(optimizer: str, checkpointing: bool, device: str) -> dict[int, Memory]:
    """For every cut."""
    return {n: measure(n, optimizer, checkpointing, device) for n in CUTS}


def measure(accumulation_steps: int, optimizer: str, checkpointing: bool, device: str = "cpu") -> Memory:
    """Run up to two micro-batches of a window after an update; whatever there is to grow has grown by then."""
    size = SAMPLES // accumulation_steps
    with torch.random.fork_rng(devices=[]):
        before = _warm_up(device)
        torch.manual_seed(0)
        x, y = torch.randn(2, size, WIDTH).to(device)
        model = Stack(checkpointing).to(device)
    makers = {
        "SGD": lambda p: torch.optim.SGD(p, lr=0.01),
        "SGD with momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        "AdamW": lambda p: torch.optim.AdamW(p, lr=0.001),
    }
    updater = makers[optimizer](model.parameters())
    F.mse_loss(model(x[:1]), y[:1]).backward()
    updater.step()  # from now on the optimizer has its state, as in every window but the first
    for _ in range(min(2, accumulation_steps)):
        loss, kept = saved_tensors(lambda: F.mse_loss(model(x), y) / accumulation_steps)
        activations = bytes_held(kept, without=model.parameters())
        del kept
        loss.backward()
    if checkpointing:
        again, kept = saved_tensors(lambda: model.blocks[0](x.requires_grad_()))
        activations += bytes_held(kept, without=(x, again, *model.parameters()))
    peak = torch.cuda.max_memory_allocated() - before if device == "cuda" else None
    parameters = list(model.parameters())
    state = [value for values in updater.state.values() for value in values.values() if isinstance(value, Tensor)]
    return Memory(
        bytes_held(parameters),
        bytes_held(p.grad for p in parameters if p.grad is not None),
        bytes_held(state),
        activations,
        peak,
    )


def _warm_up(device: str) -> int:
    """Bytes allocated before the experiment begins. Libraries take a workspace at their first forward and backward pass."""
    if device != "cuda":
        return 0
    Stack(checkpointing=False).to(device)(torch.ones(8, WIDTH, device=device)).sum().backward()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()


def draw(result: Result, figure: Figure) -> None:
    """A stacked bar for every cut, and the total against B."""
    bars, line = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.5, 1)})
    figure.subplots_adjust(left=0.065, right=0.985, bottom=0.14, top=0.9, wspace=0.12)
    _draw_bars(bars, result)
    _draw_line(line, result)


def describe(result: Result) -> str:
    """The parts of the chosen cut, what a larger N changes, and the line."""
    settings, memory = result.settings, result.chosen
    size, n = SAMPLES // settings.accumulation_steps, settings.accumulation_steps
    verdict = "over" if memory.total > BUDGET else "within"
    kept = "activations (one block computed again)" if settings.checkpointing else "activations"
    other = n if n > 1 else CUTS[-1]
    one, cut = result.measured[1], result.measured[other]
    return (
        f"B={size}, N={n}: weights {_kib(memory.weights)}, gradients {_kib(memory.gradients)}, optimizer state "
        f"{_kib(memory.state)} and {kept} {_kib(memory.activations)} KiB, measured on {result.device}. "
        f"That is {_kib(memory.total)} in all, {verdict} the budget of {_kib(BUDGET)}. "
        f"From N=1 to N={other} the activations shrink by a factor of {one.activations / cut.activations:.0f}, "
        f"but the total by only {one.total / cut.total:.1f}: the other {_kib(memory.fixed)} KiB stay."
    )


def _kib(size: float) -> str:
    return f"{size / KIB:.1f}".removesuffix(".0")


LAYERS = {
    "weights": (GREY, ""),
    "gradients": (PURPLE, "///"),
    "state": (GREEN, "..."),
    "activations": (BLUE, ""),
}
NAMES = {"weights": "weights", "gradients": "gradients", "state": "optimizer state", "activations": "activations"}
TOP = 2300
"""KiB; the largest bar of all settings needs about 2,000."""


def _draw_bars(axes: Axes, result: Result) -> None:
    tidy(axes, f"Bytes measured on {result.device}, for 512 samples", "", "KiB", y_away=38)
    places = range(len(CUTS))
    chosen = CUTS.index(result.settings.accumulation_steps)
    below = [0.0] * len(CUTS)
    for name, (color, hatch) in LAYERS.items():
        heights = [getattr(result.measured[n], name) / KIB for n in CUTS]
        above = [low + height for low, height in zip(below, heights, strict=True)]
        pale = [PALE_BLUE if color == BLUE and place != chosen else color for place in places]
        boxes = [bar(place, low, high, 0.62) for place, low, high in zip(places, below, above, strict=True)]
        axes.add_collection(PolyCollection(boxes, facecolors=pale, edgecolors="white", linewidths=0.6, hatch=hatch))
        below = above
    _name_layers(axes, result)
    axes.axhline(BUDGET / KIB, color=VERMILLION, linestyle="--", linewidth=1.6)
    axes.text(len(CUTS) - 0.55, BUDGET / KIB + 25, f"budget {_kib(BUDGET)}", color=VERMILLION, fontsize=9, ha="right")
    for place, total in zip(places, below, strict=True):
        over = total > BUDGET / KIB
        weight = "bold" if place == chosen else "normal"
        color = VERMILLION if over else "black"
        axes.text(place, total + 25, f"{total:.0f}", ha="center", fontsize=9, fontweight=weight, color=color)
    if result.device == "cuda":
        peaks = [(result.measured[n].peak or 0) / KIB for n in CUTS]
        axes.plot(places, peaks, linestyle="", marker="D", color="black", label="torch.cuda.max_memory_allocated")
        axes.legend(loc="upper right", fontsize=8.5, frameon=False)
    axes.set_xticks(places, [f"B={SAMPLES // n}\nN={n}" for n in CUTS])
    axes.set(xlim=(-0.5, len(CUTS) + 0.45), ylim=(0, TOP), yticks=[0, 1000, 2000])


def _name_layers(axes: Axes, result: Result) -> None:
    """Names of the parts to the right of the last bar, as high as its parts are, but no closer than letters allow."""
    memory, low, last = result.measured[CUTS[-1]], 0.0, -45.0
    for name, (color, _) in LAYERS.items():
        height = getattr(memory, name) / KIB
        last = max(low + height / 2, last + 95) if height else last
        if height:
            axes.text(len(CUTS) - 0.62, last, NAMES[name], fontsize=8.5, color=color, va="center")
        low += height


def _draw_line(axes: Axes, result: Result) -> None:
    tidy(axes, "Totals against B", "micro-batch size B", "")
    sizes = [SAMPLES // n for n in CUTS]
    line = [(result.fixed + result.per_sample * size) / KIB for size in (0, SAMPLES)]
    axes.axhline(BUDGET / KIB, color=VERMILLION, linestyle="--", linewidth=1.6)
    axes.plot([0, SAMPLES], line, color=GREY, linestyle=":", linewidth=1.6)
    axes.plot(sizes, [result.measured[n].total / KIB for n in CUTS], linestyle="", marker="o", color=BLUE, markersize=5)
    chosen = SAMPLES // result.settings.accumulation_steps
    axes.plot([chosen], [result.chosen.total / KIB], marker="o", markersize=12, markerfacecolor="none", color="black")
    said = f"line: {result.fixed / KIB:.0f} + {result.per_sample / KIB:.2f} · B"
    axes.text(0.04, 0.93, "● measured, in KiB", color=BLUE, fontsize=9.5, transform=axes.transAxes)
    axes.text(0.04, 0.865, f"┈ {said}", color=GREY, fontsize=9.5, transform=axes.transAxes)
    axes.set(xlim=(0, 540), ylim=(0, TOP), xticks=[0, 128, 256, 512], yticks=[])  # heights as on the left
