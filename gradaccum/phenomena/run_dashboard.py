"""Run dashboard: what a run does, update by update, and what a logger with one classic mistake says that it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import nn
from torch.nn import functional as F

from gradaccum.drawing import Style, tidy
from gradaccum.phenomena import control
from gradaccum.recording import LiveBytes
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Run dashboard"
SIZE = (8.6, 4.2)
UPDATES, BATCH = 20, 32
KIB = 1024
PER_MICRO_BATCH, PER_SAMPLE, PER_UPDATE = 0.002, 0.0001, 0.003
"""Seconds of the modelled clock: what each call of a model costs, however few samples it is given, and so on."""

MISTAKES = {
    "none": "none",
    "loss already divided by N": "scaled",
    "loss of the last micro-batch": "last",
    "steps count micro-batches": "steps",
    "samples/s of one micro-batch": "one",
    "validation losses kept with graphs": "graphs",
    "memory read after the update": "after",
    "effective batch without N": "batch",
}


@dataclass(frozen=True)
class Panel:
    """How one of the four numbers is shown.

    Attributes:
        title: what it is.
        form: how it is written, as a format.
        limits, ticks: of its axis, the same for all settings.
        logarithmic: whether its axis is.
    """

    title: str
    form: str
    limits: tuple[float, float]
    ticks: tuple[int, ...]
    logarithmic: bool = False


PANELS = {
    "losses": Panel("loss", ".3f", (0, 4.5), (0, 1, 2, 3, 4)),
    "speeds": Panel("samples per second", ",.0f", (0, 4500), (0, 2000, 4000)),
    "kilobytes": Panel("memory, KiB", ".1f", (1, 1000), (1, 10, 100, 1000), logarithmic=True),
    "batches": Panel("effective batch size", ".0f", (0, 40), (0, 16, 32)),
}
"""By the names of what a log has, in the order of the dashboard."""


@dataclass(frozen=True)
class Settings:
    """What the logger does wrong, and into how many micro-batches the 32 samples of an update are cut."""

    mistake: str = control("scaled", "Logging mistake", MISTAKES)
    accumulation_steps: int = control(4, "N", (1, 2, 4, 8))


PRESETS = {
    "Break": Settings(),
    "Break speed": Settings(mistake="one"),
    "Break memory": Settings(mistake="graphs"),
    "Fix": Settings(mistake="none"),
}


@dataclass(frozen=True)
class Log:
    """A dashboard: what is shown for each update.

    Attributes:
        steps: where on the x axis.
        losses, speeds, kilobytes, batches: loss, samples per second, memory in KiB, effective batch size.
    """

    steps: tuple[int, ...]
    losses: tuple[float, ...]
    speeds: tuple[float, ...]
    kilobytes: tuple[float, ...]
    batches: tuple[int, ...]


@dataclass(frozen=True)
class Result:
    """What is logged, and what would be right."""

    settings: Settings
    logged: Log
    right: Log

    @property
    def right_word(self) -> str:
        """What to call the numbers that are right: a logger that fills the memory logs truly what should not be there."""
        return "due" if self.settings.mistake == "graphs" else "true"

    @property
    def wrong_panels(self) -> tuple[str, ...]:
        """The names of what differs from what is right."""
        wrong = [name for name in PANELS if not _close(getattr(self.logged, name), getattr(self.right, name))]
        return tuple((["losses"] if self.logged.steps != self.right.steps else []) + wrong)


def compute(settings: Settings) -> Result:
    """A run logged without a mistake, and with it."""
    steps = settings.accumulation_steps
    return Result(settings, log(settings.mistake, steps), log("none", steps))


@dataclass(frozen=True)
class Seen:
    """What a run shows of one update: its micro-batches' losses, and bytes alive at most and after it."""

    losses: tuple[float, ...]
    peak: int
    after: int


@cache
def train(accumulation_steps: int, keep_graphs: bool) -> tuple[Seen, ...]:
    """Train a small network on 20 × 32 samples; bytes are those of everything but weights and data."""
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(UPDATES * BATCH, 8, generator=generator)
    y = 0.4 * x @ torch.randn(8, 1, generator=generator) + 0.2 * torch.randn(len(x), 1, generator=generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.5)
    seen, kept = [], []
    with LiveBytes() as live:
        for window_x, window_y in zip(x.split(BATCH), y.split(BATCH), strict=True):
            live.peak, losses = live.now, []
            for a, b in zip(window_x.chunk(accumulation_steps), window_y.chunk(accumulation_steps), strict=True):
                loss = F.mse_loss(model(a), b)
                (loss / accumulation_steps).backward()
                losses.append(loss.item())
                kept += [F.mse_loss(model(a), b)] if keep_graphs else []  # never goes backward, so keeps its activations
            del loss
            optimizer.step()
            optimizer.zero_grad()
            seen.append(Seen(tuple(losses), live.peak, live.now))
    return tuple(seen)


def log(mistake: str, accumulation_steps: int) -> Log:
    """What a logger with this mistake writes down of a run."""
    n, size = accumulation_steps, BATCH // accumulation_steps
    run = train(n, mistake == "graphs")
    means = [sum(update.losses) / n for update in run]
    losses = {"scaled": [mean / n for mean in means], "last": [update.losses[-1] for update in run]}
    seconds = PER_UPDATE + n * PER_MICRO_BATCH + BATCH * PER_SAMPLE
    return Log(
        steps=tuple((n if mistake == "steps" else 1) * k for k in range(1, UPDATES + 1)),
        losses=tuple(losses.get(mistake, means)),
        speeds=((size if mistake == "one" else BATCH) / seconds,) * UPDATES,
        kilobytes=tuple((update.after if mistake == "after" else update.peak) / KIB for update in run),
        batches=(size if mistake == "batch" else BATCH,) * UPDATES,
    )


def draw(result: Result, figure: Figure) -> None:
    """Large on the left what is logged wrongly, update by update; on the right what the dashboard says in the end."""
    name = result.wrong_panels[0] if result.wrong_panels else "losses"
    _draw_panel(figure.add_axes((0.075, 0.125, 0.5, 0.69)), result, name)
    board = figure.add_axes((0.61, 0.0, 0.385, 1.0))
    board.set(xlim=(0, 1), ylim=(len(PANELS), 0))
    board.set_axis_off()
    for place, one in enumerate(PANELS):
        _draw_tile(board, result, one, place)


def describe(result: Result) -> str:
    """Which number is wrong, by how much, and what it makes one believe."""
    n, mistake, right, logged = result.settings.accumulation_steps, result.settings.mistake, result.right, result.logged
    size, steps = BATCH // n, "step" if n == 1 else "steps"
    run = f"A run of {UPDATES} updates of {BATCH} samples, B = {size}, N = {n}"
    if mistake == "none":
        return (
            f"{run}: loss {right.losses[-1]:.3f} at the end, {right.speeds[-1]:,.0f} samples per second, "
            f"{right.kilobytes[-1]:.1f} KiB at most, effective batch size {BATCH}. Of these, speed and memory depend on N."
        )
    if not result.wrong_panels:
        said = next(label for label, value in MISTAKES.items() if value == mistake)
        return f"{run}, logged with a mistake ({said}): with N = 1 you cannot see it."
    said = {
        "scaled": f"the loss is logged after it was scaled for backward, and ends at {logged.losses[-1]:.3f}, 1/{n} of the "
        f"true {right.losses[-1]:.3f}. It looks {n} times as good, and better still for every larger N",
        "last": f"the loss of {size} samples stands for that of {BATCH}. It is off by "
        f"{_typically_off(logged.losses, right.losses):.0%} on average, and the curve jumps about more than the training does",
        "steps": f"{UPDATES} updates are logged as {UPDATES * n} {steps}, so only the first {UPDATES // n} fit here. The run "
        f"seems to learn {n} times as slowly as one logged by updates",
        "one": f"the samples of one micro-batch are divided by the time of all {n}: {logged.speeds[-1]:,.0f} samples per "
        f"second instead of {right.speeds[-1]:,.0f}. Accumulation seems {n} times as slow as it is",
        "graphs": f"validation losses are collected as they are, each with its graph, which no backward pass frees. In the end "
        f"{logged.kilobytes[-1]:.1f} KiB are alive instead of {right.kilobytes[-1]:.1f}: the logger itself eats the memory",
        "after": f"memory is read after each update, when all graphs are gone: {logged.kilobytes[-1]:.1f} KiB, but at most "
        f"{right.kilobytes[-1]:.1f} were alive. What decides whether a batch fits is the peak",
        "batch": f"{size}, the size of a micro-batch, is logged where each update averages over {BATCH} samples. If you repeat "
        f"the run with batches of {size}, you get a different training run",
    }[mistake]
    return f"{run}: {said}."


def _typically_off(found: tuple[float, ...], due: tuple[float, ...]) -> float:
    return sum(abs(f - d) / d for f, d in zip(found, due, strict=True)) / len(due)


def _close(found: tuple[float, ...], due: tuple[float, ...]) -> bool:
    return all(abs(f - d) <= 1e-9 * abs(d) for f, d in zip(found, due, strict=True))


def _headline(result: Result) -> str:
    """What the dashboard makes one believe."""
    n, logged, right = result.settings.accumulation_steps, result.logged, result.right
    if result.settings.mistake == "none":
        return "All four are logged right"
    if not result.wrong_panels:
        return "With N = 1 this mistake does not show"
    return {
        "scaled": f"The loss looks {n} times as good as it is",
        "last": "The loss looks noisier than it is",
        "steps": f"The run seems to learn {n} times as slowly",
        "one": f"The run looks {n} times as slow as it is",
        "graphs": f"With its logger the run needs {logged.kilobytes[-1] / right.kilobytes[-1]:.0f} times the memory",
        "after": f"Memory looks 1/{right.kilobytes[-1] / logged.kilobytes[-1]:.0f} as large as it is",
        "batch": f"The batch looks 1/{n} as large as it is",
    }[result.settings.mistake]


def _draw_panel(axes: Axes, result: Result, name: str) -> None:
    """What is logged and what is true, with the gap between them shaded; the title says what one would believe."""
    panel, wrong, logged = PANELS[name], name in result.wrong_panels, result.logged
    due, found = getattr(result.right, name), getattr(logged, name)
    tidy(axes, "", "step, as logged" if logged.steps != result.right.steps else "update")
    look: Style = {"color": VERMILLION, "marker": "x"} if wrong else {"color": BLUE, "marker": "o"}
    if wrong and logged.steps == result.right.steps:
        axes.fill_between(logged.steps, found, due, color=VERMILLION, alpha=0.15, linewidth=0)
    axes.plot(result.right.steps, due, color=GREEN, linestyle="--", linewidth=2.4)
    inside = [pair for pair in zip(logged.steps, found, strict=True) if pair[0] <= UPDATES]
    axes.plot(*zip(*inside, strict=True), linewidth=1.4, markersize=5, **look)
    axes.set(xlim=(0, UPDATES + 1), xticks=range(0, UPDATES + 1, 5))
    if panel.logarithmic:
        axes.set_yscale("log")
        axes.minorticks_off()
    axes.set_ylim(*panel.limits)
    axes.set_yticks(panel.ticks, list(map(str, panel.ticks)))
    axes.tick_params(labelsize=10)
    axes.xaxis.label.set_fontsize(10)
    axes.xaxis.set_label_coords(0.5, -0.1)  # below larger numbers than elsewhere
    place: Style = {"transform": axes.transAxes, "fontsize": 10}
    axes.text(-0.1, 1.155, _headline(result), fontweight="bold", **place | {"fontsize": 12})
    axes.text(-0.1, 1.055, panel.title, **place)
    sign = "× logged" if wrong else "● logged"
    axes.text(0.78, 1.055, sign, ha="right", color=look["color"], **place)
    axes.text(1.0, 1.055, f"– – {result.right_word}", ha="right", color=GREEN, **place)


def _draw_tile(board: Axes, result: Result, name: str, place: int) -> None:
    """One number of the dashboard: its name, what is logged in the end, and what is true if that is something else."""
    panel, wrong = PANELS[name], name in result.wrong_panels
    due, found = getattr(result.right, name)[-1], getattr(result.logged, name)[-1]
    color, sign = (VERMILLION, "✗") if wrong else (GREY, "✓")
    frame = Rectangle((0.01, place + 0.08), 0.98, 0.84, fill=False, edgecolor=color, linewidth=2.6 if wrong else 0.8)
    board.add_patch(frame)
    said = "right"
    if wrong:
        steps = result.logged.steps[-1]
        word = result.right_word
        said = f"{word}: {due:{panel.form}}" if steps == UPDATES else f"at step {steps}; {word}: {UPDATES}"
    board.text(0.05, place + 0.36, panel.title, fontsize=10.5, va="center", fontweight="bold" if wrong else "normal")
    board.text(0.05, place + 0.68, f"{sign} {said}", fontsize=10.5, va="center", color=GREEN if not wrong else color)
    board.text(
        0.95, place + 0.5, f"{found:{panel.form}}", fontsize=16, va="center", ha="right", color=color if wrong else "black"
    )
