"""Show the fingerprint of a loop written in a notebook, beside the one that is due. Needs matplotlib."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby

from matplotlib.figure import Figure

from gradaccum.drawing import DPI, draw_fingerprint, new_figure
from gradaccum.fingerprint import Fingerprint, as_fraction, expected, fingerprint
from gradaccum.problems import Problem
from gradaccum.recording import Loop

CELL, MARGIN = 0.29, 0.62
"""Inches of one coefficient, and of the labels around a fingerprint."""


@dataclass(frozen=True)
class Picture:
    """A picture and what it says in words.

    A notebook shows the picture, with the words as its alternative text; everything else shows the words.
    """

    figure: Figure
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=DPI)
        data = base64.b64encode(buffer.getvalue()).decode()
        width, height = (round(DPI * inches) for inches in self.figure.get_size_inches())
        image = (
            f'<img alt="{escape(self.text, quote=True)}" src="data:image/png;base64,{data}" '
            f'width="{width}" height="{height}" style="max-width:100%;height:auto">'
        )
        return {"text/html": image, "text/plain": self.text}


def show_fingerprint(loop: Loop, problem: Problem) -> Picture:
    """The fingerprint due on a problem and the one ``loop`` has, side by side; what differs is framed.

    Raises:
        ValueError: the problem's micro-batch gradients are not linearly independent.
        Exception: whatever the loop raises.
    """
    due = expected(problem)
    pair = {"a right loop": due, getattr(loop, "__name__", "yours"): fingerprint(loop, problem)}
    return show_fingerprints(pair, columns=2, due=due)


def show_fingerprints(fingerprints: Mapping[str, Fingerprint], columns: int = 3, due: Fingerprint | None = None) -> Picture:
    """Fingerprints by name, in rows of ``columns``, all in the same shades; what differs from ``due``, if given, is framed."""
    rows = -(-len(fingerprints) // columns)
    deepest = max(1, *(len(one.coefficients) for one in fingerprints.values()))
    widest = max(one.coefficients.shape[1] for one in fingerprints.values())
    figure = new_figure(columns * (CELL * widest + MARGIN), rows * (CELL * deepest + 1.25 * MARGIN))
    peak = max(1.0, *(float(one.coefficients.abs().max()) for one in fingerprints.values() if one.coefficients.numel()))
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(fingerprints) :]:
        axes.remove()
    for axes, (name, one) in zip(grid.flat, fingerprints.items(), strict=False):
        draw_fingerprint(axes, one, name, due, peak)
        if len(one.coefficients):
            axes.set_ylim(deepest - 0.4, -0.6)
    figure.tight_layout(pad=0.4)
    return Picture(figure, "\n".join(f"{name}: {in_words(one)}." for name, one in fingerprints.items()))


def in_words(one: Fingerprint) -> str:
    """A fingerprint as a sentence, for those who cannot see the picture: ``"update 1 holds 1/4 of micro-batches 1 to 4"``."""
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
