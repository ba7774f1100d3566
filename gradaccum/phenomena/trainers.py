"""Real trainers: what the updates of released libraries held, before and after mistakes were repaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from matplotlib.figure import Figure

from gradaccum.drawing import draw_fingerprint, found_title
from gradaccum.fingerprint import Fingerprint
from gradaccum.phenomena import control
from gradaccum.real_trainers import MAX_COLUMNS, Release, releases

TITLE = "Trainers of released libraries"
SIZE = (9.6, 4.6)
ROWS = 6
"""Room for updates."""


@dataclass(frozen=True)
class Settings:
    """Which trainer, and which of the releases it was watched in."""

    trainer: str = control("transformers llama answers", "Trainer", tuple(releases()))
    release: int = control(1, "Release, oldest first", range(1, max(map(len, releases().values())) + 1))


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(release=3),
    "Break again": Settings(release=4),
}


@dataclass(frozen=True)
class Result:
    """A recorded run, and the number of its release."""

    settings: Settings
    release: Release
    number: int
    due: Fingerprint
    found: Fingerprint


def compute(settings: Settings) -> Result:
    """Look up the run; of a trainer with fewer releases the newest."""
    watched = releases()[settings.trainer]
    number = min(settings.release, len(watched))
    release = watched[number - 1]
    due, found = (fingerprint_of(release.matrix[name], release.matrix["counts"]) for name in ("due", "found"))
    return Result(settings, release, number, due, found)


def fingerprint_of(rows: Sequence[Sequence[float]], counts: Sequence[float | None]) -> Fingerprint:
    """A recorded matrix as a fingerprint, all in one epoch."""
    numbers = torch.tensor(rows, dtype=torch.float64)
    zeros, ones = torch.zeros(len(numbers), dtype=torch.float64), torch.ones(len(numbers), dtype=torch.float64)
    return Fingerprint(numbers, zeros, ones, (0,) * len(numbers), tuple((0, int(count or 1)) for count in counts))


def draw(result: Result, figure: Figure) -> None:
    """What is due above what was found, and below the columns what each micro-batch counts."""
    figure.subplots_adjust(left=0.06, right=0.99, bottom=0.07, top=0.91, hspace=0.3)
    due, found = figure.subplots(2, 1)
    peak = max(1.0, float(result.found.coefficients.max()))
    draw_fingerprint(due, result.due, "due", peak=peak, rows=ROWS, room=MAX_COLUMNS)
    title = found_title(result.release.seen["outcome"] == "due")
    draw_fingerprint(found, result.found, title, result.due, peak=peak, rows=ROWS, room=MAX_COLUMNS)
    bottom = len(result.found.coefficients) - 0.35
    for k, count in enumerate(result.release.matrix["counts"]):
        found.text(k, bottom, f"{count:g}" if count else "?", ha="center", va="top", fontsize=8)
    found.text(-0.65, bottom, "counts", ha="right", va="top", fontsize=8)


def describe(result: Result) -> str:
    """The release, the verdict and what explains it."""
    watched = len(releases()[result.settings.trainer])
    newest = ", the newest" if result.number == watched else ""
    place = (
        f"release {result.number} of {watched} that were watched{newest}" if watched > 1 else "the one release that was watched"
    )
    if result.settings.release > watched:
        place = f"{place} (there is no release {result.settings.release})"
    seen = result.release.seen
    head = (
        f"The script “{result.settings.trainer}” in {result.release.name}, {place}, N = {seen['accumulation_steps']}: "
        f"{seen['outcome']}."
    )
    return " ".join([head, *(mistake["message"] for mistake in seen["mistakes"])])
