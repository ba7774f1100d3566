"""Gallery: the right loop and each famous wrong one, code and fingerprint side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from matplotlib.figure import Figure

from gradaccum.drawing import draw_fingerprint, found_title
from gradaccum.fingerprint import Fingerprint, expected, fingerprint
from gradaccum.fingerprint_words import say
from gradaccum.loops import GALLERY, source
from gradaccum.phenomena import Listing, control
from gradaccum.problems import Problem

TITLE = "Gallery of loops"
SIZE = (5.2, 3.9)

PROBLEMS = {
    "uneven": Problem(seed=5, accumulation_steps=3, epochs=((2, 2), (2, 2, 2, 2, 1)), width=8, stale=True, gated=True),
    "even": Problem(seed=5, accumulation_steps=3, epochs=((2,) * 6,), width=8),
}
DUE_ROWS, ROWS = 3, 7
"""Room for updates: a right loop makes at most 3 on these problems, one that steps every time 7."""


@dataclass(frozen=True)
class Settings:
    """Which loop runs on which micro-batches."""

    loop: str = control("zero-every", "Loop", {f"{'✓' if slug == 'right' else '✗'} {slug}": slug for slug in GALLERY})
    micro_batches: str = control(
        "uneven", "Micro-batches", {"as in real life: 2, then 5, the last one smaller": "uneven", "6 of the same size": "even"}
    )


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(loop="right"),
    "Hide it": Settings(loop="tail-dropped", micro_batches="even"),
}


@dataclass(frozen=True)
class Result:
    """The fingerprint a right loop has, and the one this loop has."""

    settings: Settings
    due: Fingerprint
    found: Fingerprint


def compute(settings: Settings) -> Result:
    """Run the loop with frozen parameters and read its fingerprint."""
    problem = PROBLEMS[settings.micro_batches]
    return Result(settings, expected(problem), fingerprint(GALLERY[settings.loop], problem))


def draw(result: Result, figure: Figure) -> None:
    """What is due above what is found."""
    figure.subplots_adjust(left=0.105, right=0.99, bottom=0.01, top=0.9, hspace=0.36)
    grid = figure.add_gridspec(2, 1, height_ratios=(DUE_ROWS, ROWS))
    due, found = (figure.add_subplot(grid[place]) for place in (0, 1))
    draw_fingerprint(due, result.due, "due", rows=DUE_ROWS)
    same = result.found.same_as(result.due)
    draw_fingerprint(found, result.found, found_title(same), result.due, rows=ROWS)
    due.set_xlim(found.get_xlim())


def code(result: Result) -> Listing:
    """The loop as a student could have written it."""
    return Listing(source(result.settings.loop), right=result.settings.loop == "right")


@cache
def max_lines() -> int:
    """Lines of the longest loop."""
    return max(len(source(slug).splitlines()) for slug in GALLERY)


def describe(result: Result) -> str:
    """What the loop computes, read off its fingerprint."""
    name, problem = result.settings.loop, PROBLEMS[result.settings.micro_batches]
    said = f"{name}, N = {problem.accumulation_steps}: the loop {say(result.found, result.due)}."
    if name != "right" and result.found.same_as(result.due):
        return f"{said} This setting cannot show what is wrong with it; the other one does."
    return said
