"""Loop timeline: when a loop goes forward, backward, steps and clears, and what is in memory and in .grad meanwhile."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor, nn

from gradaccum.drawing import LABEL, ON_DARK, ON_PALE, PALE_BLUE, Style, draw_fingerprint, draw_strip, label_rows, tidy
from gradaccum.fingerprint import Fingerprint, expected, read, solve
from gradaccum.fingerprint_words import listing, number
from gradaccum.loops import GALLERY
from gradaccum.phenomena import control
from gradaccum.problems import Problem, flat_gradient, trainable
from gradaccum.recording import Event, Loop, Recording, record
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Loop timeline"
SIZE = (9.6, 4.3)
MICRO_BATCHES, MICRO_BATCH_SIZE = 8, 32
MOMENTS = 4 * MICRO_BATCHES
"""As many as a loop has that goes forward, backward, steps and clears for every micro-batch."""

LOOPS = {
    "✓ right": "right",
    "✗ clears before every backward": "zero-every",
    "✗ steps after every micro-batch": "step-every",
    "✗ never clears": "never-zero",
    "✗ keeps every graph": "retained-graph",
}
LANES = {"forward": PALE_BLUE, "backward": BLUE, "step": GREEN, "clear": GREY}
PEAK_SHOWN = 30.0


@dataclass(frozen=True)
class Settings:
    """Which loop, how many micro-batches per window, and the moment looked at."""

    loop: str = control("zero-every", "Loop", LOOPS)
    accumulation_steps: int = control(4, "N", (1, 2, 4))
    moment: int = control(11, "Moment", range(1, MOMENTS + 1), plays=True)


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(loop="right", moment=8),
    "Fill the memory": Settings(loop="retained-graph", moment=8),
}


@dataclass(frozen=True)
class Moment:
    """One block of the timeline.

    Attributes:
        kind: ``"forward"``, ``"backward"``, ``"step"`` or ``"clear"``.
        start, length: its place on the time axis; a backward through several graphs is several units long.
        micro_batch: of a forward or backward, from 1; else 0.
    """

    kind: str
    start: int
    length: int
    micro_batch: int


@dataclass(frozen=True)
class Run:
    """A watched run.

    Attributes:
        moments: in order.
        held: ``(len(moments), 8)``, what ``.grad`` holds after each, as coefficients of the micro-batches.
        times, kilobytes: live memory (graphs and ``.grad``) along the time axis.
        found, due: the loop's fingerprint and a right loop's.
    """

    moments: tuple[Moment, ...]
    held: Tensor
    times: tuple[float, ...]
    kilobytes: tuple[float, ...]
    found: Fingerprint
    due: Fingerprint

    @property
    def peak(self) -> float:
        return max(self.kilobytes)


@dataclass(frozen=True)
class Result:
    """A run, and the moment of it that is looked at.

    Attributes:
        run: of the loop.
        right_peak: the largest live memory of a right loop, in kilobytes.
        number: of the moment, from 1; the last one where the loop has fewer.
    """

    settings: Settings
    run: Run
    right_peak: float
    number: int

    @property
    def now(self) -> Moment:
        return self.run.moments[self.number - 1]

    @property
    def held(self) -> Tensor:
        """``(8,)``, what ``.grad`` holds after the moment."""
        return self.run.held[self.number - 1]

    @property
    def swollen(self) -> bool:
        """Whether the loop needs more memory than a right one."""
        return self.run.peak > 1.05 * self.right_peak


def compute(settings: Settings) -> Result:
    """Look at a moment of the loop's run."""
    run = _watch(settings.loop, settings.accumulation_steps)
    right_peak = _watch("right", settings.accumulation_steps).peak
    return Result(settings, run, right_peak, min(settings.moment, len(run.moments)))


def draw(result: Result, figure: Figure) -> None:
    """Blocks over memory on the left; what .grad holds over the fingerprint on the right."""
    blocks = figure.add_axes((0.075, 0.56, 0.545, 0.36))
    memory = figure.add_axes((0.075, 0.115, 0.545, 0.33))
    held = figure.add_axes((0.66, 0.805, 0.335, 0.065))
    matrix = figure.add_axes((0.66, 0.09, 0.335, 0.56))
    _draw_blocks(blocks, result)
    _draw_memory(memory, result)
    draw_strip(held, result.held.tolist(), f".grad after moment {result.number}")
    found, due = result.run.found, result.run.due
    title = "fingerprint" if found.same_as(due) else "fingerprint (framed: wrong)"
    draw_fingerprint(matrix, found, title, due, rows=MICRO_BATCHES)


def describe(result: Result) -> str:
    """What happens at the moment, what .grad then holds, and the peak of the memory."""
    now, run = result.now, result.run
    of = f" of micro-batch {now.micro_batch}" if now.micro_batch else ""
    through = f" through {now.length} graphs" if now.length > 1 else ""
    ending = ", the last one" if result.number == len(run.moments) else ""
    holds = _in_words(result.held)
    if now.kind == "backward" and (right := _in_words(_right_now(result))) != holds:
        holds += f", where a right loop would have {right.removeprefix('holds ')}"
    peak = f"At most {run.peak:.1f} kB are alive"
    if result.swollen:
        peak += f", {run.peak / result.right_peak:.1f} times a right loop's {result.right_peak:.1f} kB"
    return f"Moment {result.number}{ending}, {now.kind}{of}{through}: .grad {holds}. {peak}."


def _in_words(row: Tensor) -> str:
    inside = {k + 1: number(value) for k, value in enumerate(row.tolist()) if abs(value) > 1e-4}
    if not inside:
        return "is empty"
    if len(inside) == 1:
        return f"holds {listing(inside.values())} of micro-batch {listing(inside)} alone"
    if len(set(inside.values())) == 1:
        return f"holds {listing(set(inside.values()))} of each of micro-batches {listing(inside)}"
    first, *others = inside.items()
    return f"holds {listing(['{1} of micro-batch {0}'.format(*first), *('{1} of {0}'.format(*pair) for pair in others)])}"


def _right_now(result: Result) -> Tensor:
    """What a right loop's ``.grad`` holds after the same backward: its window so far."""
    last = result.now.micro_batch
    row = result.run.due.coefficients[(last - 1) // result.settings.accumulation_steps].clone()
    row[last:] = 0
    return row


@functools.cache
def _watch(slug: str, accumulation_steps: int) -> Run:
    """Run a loop twice with frozen parameters: with a meter, and with a look into .grad after every event.

    Cached because a student looks at one moment of a run after the other.
    """
    sizes = (MICRO_BATCH_SIZE,) * MICRO_BATCHES
    problem = Problem(seed=1, accumulation_steps=accumulation_steps, epochs=(sizes,), width=8, depth=2)
    recording = record(GALLERY[slug], problem, meter=True)
    spans = _spans(recording.events)
    moments = _moments(recording.events, spans)
    held = _held(GALLERY[slug], problem)[[last for _, last in spans]]
    return Run(moments, held, *_memory(recording, spans, moments), read(recording, problem), expected(problem))


def _spans(events: tuple[Event, ...]) -> list[tuple[int, int]]:
    """First and last event of each moment; the backwards of one call belong together."""
    spans = []
    for kind, group in itertools.groupby(enumerate(events), key=lambda pair: pair[1].kind):
        numbers = [k for k, _ in group]
        spans += [(numbers[0], numbers[-1])] if kind == "backward" else [(k, k) for k in numbers]
    return spans


def _moments(events: tuple[Event, ...], spans: list[tuple[int, int]]) -> tuple[Moment, ...]:
    moments, forward = [], 0
    for first, last in spans:
        kind = events[first].kind
        if kind == "forward":
            place = events[first].micro_batch
            assert place is not None  # no loop of the gallery makes micro-batches of its own
            forward = place + 1
        moments.append(Moment(kind, first, last - first + 1, forward if kind in ("forward", "backward") else 0))
    return tuple(moments)


def _memory(
    recording: Recording, spans: list[tuple[int, int]], moments: tuple[Moment, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The curve of live bytes with each moment's operations spread evenly over its block."""
    ends = [recording.events[first].tick for first, _ in spans[1:]] + [len(recording.curve)]
    times, kilobytes = [], []
    for moment, (first, _), end in zip(moments, spans, ends, strict=True):
        event = recording.events[first]
        values = (event.live_bytes, *recording.curve[event.tick : end])
        times += [moment.start + moment.length * k / len(values) for k in range(len(values))]
        kilobytes += [value / 1000 for value in values]
    return tuple(times), tuple(kilobytes)


def _held(loop: Loop, problem: Problem) -> Tensor:
    """Coefficients ``(events, 8)`` of what ``.grad`` holds after each event."""
    after: list[Tensor] = []
    now = torch.zeros_like(flat_gradient(problem.build_model()))

    def watched(model: nn.Module, *arguments: object) -> object:
        def note(parameter: Tensor) -> None:
            nonlocal now
            now = flat_gradient(model)

        for parameter in trainable(model):
            parameter.register_post_accumulate_grad_hook(note)
        return loop(model, *arguments)

    def ended(event: Event) -> None:
        """An event begins, so the one before it is over; a clear is noticed when it is over itself."""
        nonlocal now
        after.append(now)
        if event.kind == "clear":
            now = torch.zeros_like(now)

    record(watched, problem, on_event=ended)
    contents = torch.stack([*after[1:], now])
    return solve(contents, contents, [0] * len(contents), problem).coefficients


def _draw_blocks(axes: Axes, result: Result) -> None:
    tidy(axes, "What the loop does")
    now = result.now
    for lane, (kind, color) in enumerate(LANES.items()):
        mine = [moment for moment in result.run.moments if moment.kind == kind]
        axes.broken_barh([(m.start, m.length) for m in mine], (lane - 0.4, 0.8), color=color, edgecolor="white", linewidth=1)
        for moment in mine:
            if moment.micro_batch:
                middle, dark = moment.start + moment.length / 2, kind == "backward"
                axes.text(
                    middle,
                    lane,
                    str(moment.micro_batch),
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color=ON_DARK if dark else ON_PALE,
                )
        if now.kind == kind:
            axes.broken_barh([(now.start, now.length)], (lane - 0.45, 0.9), facecolor="none", edgecolor="black", linewidth=2)
    _draw_now(axes, now)
    axes.set(xlim=(0, MOMENTS), ylim=(len(LANES) - 0.45, -0.55), xticks=[])
    label_rows(axes, dict(enumerate(LANES)))
    axes.spines[:].set_visible(False)


def _draw_memory(axes: Axes, result: Result) -> None:
    tidy(axes, "What is in memory: graphs and .grad", "time, not to scale", "kB")
    run = result.run
    axes.fill_between(run.times, run.kilobytes, step="post", color=PALE_BLUE, linewidth=0)
    axes.plot(run.times, run.kilobytes, drawstyle="steps-post", color=BLUE, linewidth=0.8)
    axes.axhline(result.right_peak, color=GREEN, linestyle="--", linewidth=1.2)
    text: Style = {"fontsize": 8.5, "bbox": LABEL}
    axes.text(MOMENTS, result.right_peak + 0.6, "a right loop's peak", ha="right", color=GREEN, **text)
    if result.swollen:
        where = run.times[run.kilobytes.index(run.peak)]
        axes.plot([where], [run.peak], marker="v", color=VERMILLION)
        axes.text(where, run.peak + 1.2, f"{run.peak:.1f} kB", ha="center", color=VERMILLION, **text)
    _draw_now(axes, result.now)
    axes.set(xlim=(0, MOMENTS), ylim=(0, PEAK_SHOWN), xticks=[], yticks=[0, 10, 20, 30])


def _draw_now(axes: Axes, now: Moment) -> None:
    axes.axvline(now.start + now.length, color="black", linewidth=1, linestyle="--")
