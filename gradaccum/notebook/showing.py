"""Show the fingerprint of a loop written in a notebook, next to the one that is due. Needs matplotlib."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure

from gradaccum import still
from gradaccum.drawing import DPI, as_png, draw_fingerprint, heading_inches, new_figure
from gradaccum.fingerprint import Fingerprint, as_fraction, expected, fingerprint
from gradaccum.fingerprint_words import say
from gradaccum.problems import Problem
from gradaccum.recording import Loop

CELL, MARGIN = 0.29, 0.55
"""Inches of one coefficient, and of the labels around a fingerprint."""


@dataclass(frozen=True)
class Picture:
    """A picture that shows itself in a notebook, and in words everywhere else.

    Attributes:
        figure: the picture.
        alt: what is in it, for those who cannot see it.
        caption: a sentence below it, or nothing.
    """

    figure: Figure
    alt: str
    caption: str = ""

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.caption, self.alt]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        width, height = (round(DPI * inches) for inches in self.figure.get_size_inches())
        image = still.image(base64.b64encode(as_png(self.figure)).decode(), self.alt, (width, height))
        caption = f'<p style="max-width:75ch;margin:4px 0">{escape(self.caption)}</p>' if self.caption else ""
        return {"text/html": image + caption, "text/plain": str(self)}


def show_fingerprint(loop: Loop, problem: Problem) -> Picture:
    """The fingerprint due on a problem and the one ``loop`` has, side by side; what differs is framed.

    Raises:
        ValueError: the problem's micro-batch gradients are not linearly independent.
        Exception: whatever the loop raises.
    """
    name, due, found = getattr(loop, "__name__", "the loop"), expected(problem), fingerprint(loop, problem)
    caption = f"{name} {say(found, due)}."
    return show_fingerprints({"a right loop": due, name: found}, columns=2, due=due, caption=caption)


def show_fingerprints(
    fingerprints: Mapping[str, Fingerprint], columns: int = 3, due: Fingerprint | None = None, caption: str = ""
) -> Picture:
    """Fingerprints by name, in rows of ``columns``, all in the same shades; what differs from ``due``, if given, is framed."""
    rows = -(-len(fingerprints) // columns)
    deepest = max(1, *(len(one.coefficients) for one in fingerprints.values()))
    width = max(max(CELL * len(one.columns), heading_inches(name, one)) for name, one in fingerprints.items())
    peak = max(1.0, *(float(one.coefficients.abs().max()) for one in fingerprints.values() if len(one.coefficients)))
    figure = new_figure(columns * (width + MARGIN), rows * (CELL * deepest + MARGIN))
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(fingerprints) :]:
        axes.remove()
    for axes, (name, one) in zip(grid.flat, fingerprints.items(), strict=False):
        draw_fingerprint(axes, one, name, due, peak, rows=deepest)
    figure.tight_layout(pad=0.4)
    return Picture(figure, "\n".join(f"{name}: {in_words(one)}." for name, one in fingerprints.items()), caption)


def in_words(one: Fingerprint) -> str:
    """A fingerprint row by row: ``"update 1 holds 1/4 of micro-batches 1 to 4; update 2 holds …"``."""
    if not len(one.coefficients):
        return "no update at all"
    rows = one.coefficients.tolist()
    return "; ".join(f"update {u} holds {_row_in_words(row)}" for u, row in enumerate(rows, 1))


def _row_in_words(row: list[float]) -> str:
    runs, start = [], 1
    for share, cells in groupby(row, as_fraction):
        end = start + len(list(cells)) - 1
        if share:
            place = f"micro-batch {start}" if start == end else f"micro-batches {start} to {end}"
            runs.append(f"{share} of {place}")
        start = end + 1
    return ", ".join(runs) or "nothing"
