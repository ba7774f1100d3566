"""Reading a fingerprint: the picture of a right loop, row by row."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.figure import Figure

from gradaccum.drawing import draw_fingerprint
from gradaccum.fingerprint import Fingerprint, fingerprint
from gradaccum.fingerprint_words import number
from gradaccum.loops import GALLERY
from gradaccum.phenomena import control
from gradaccum.problems import Problem
from gradaccum.theme import BLUE, GREY

TITLE = "How to read a fingerprint"
SIZE = (8.0, 2.1)
MAX_MICRO_BATCHES, ROWS = 10, 5


@dataclass(frozen=True)
class Settings:
    """Micro-batches per window, and micro-batches per epoch."""

    accumulation_steps: int = control(4, "N, micro-batches per update", (2, 3, 4, 5))
    micro_batches: int = control(10, "Micro-batches", range(2, MAX_MICRO_BATCHES + 1))


PRESETS = {"No leftover": Settings(micro_batches=8)}


@dataclass(frozen=True)
class Result:
    """The measured fingerprint of a right loop."""

    settings: Settings
    found: Fingerprint


def compute(settings: Settings) -> Result:
    """Run a right loop with frozen parameters and read its fingerprint."""
    sizes = (2,) * settings.micro_batches
    problem = Problem(seed=6, accumulation_steps=settings.accumulation_steps, epochs=(sizes,), width=8)
    return Result(settings, fingerprint(GALLERY["right"], problem))


def draw(result: Result, figure: Figure) -> None:
    """The matrix, and next to each row what it says."""
    axes = figure.add_axes((0.055, 0.01, 0.53, 0.79))
    draw_fingerprint(axes, result.found, "fingerprint of a right loop", rows=ROWS)
    axes.set_xlim(-0.6, MAX_MICRO_BATCHES - 0.4)
    for u, (first, last, weight) in enumerate(_rows(result)):
        leftover = last - first + 1 < result.settings.accumulation_steps
        members = " + ".join(f"g{k}" for k in range(first, last + 1))
        said = f"update {u + 1}: {weight} · ({members}){', leftover' if leftover else ''}"
        axes.text(MAX_MICRO_BATCHES - 0.2, u, said, va="center", fontsize=9, color=GREY if leftover else BLUE)


def describe(result: Result) -> str:
    """What rows and columns are, and what the last row says."""
    rows, n = _rows(result), result.settings.accumulation_steps
    first, last, weight = rows[-1]
    count = last - first + 1
    updates = f"{len(rows)} rows are updates" if len(rows) > 1 else "one row is an update"
    said = (
        f"A right loop, {result.settings.micro_batches} micro-batches, N = {n}. The columns are micro-batches, the {updates}. "
        "A cell says how much of that micro-batch's gradient g is in that update. "
    )
    if count == n:
        return f"{said}Every window is full, so every weight is {weight}: an average."
    holds = f"one micro-batch, which weighs {weight}" if count == 1 else f"{count} micro-batches, which weigh {weight} each"
    if len(rows) == 1:
        return f"{said}The only window is shorter than N, with {holds}: still an average."
    return f"{said}The last window is a leftover of {holds}: again an average."


def _rows(result: Result) -> list[tuple[int, int, str]]:
    """First and last micro-batch of each update, from 1, and the weight they have."""
    rows = []
    for row in result.found.coefficients.tolist():
        inside = [k + 1 for k, value in enumerate(row) if abs(value) > 1e-4]
        rows.append((inside[0], inside[-1], number(row[inside[0] - 1])))
    return rows
