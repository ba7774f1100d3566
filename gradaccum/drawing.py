"""The look of the course's pictures: figures, shades, and the drawing of a fingerprint. Needs matplotlib."""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from PIL import Image

from gradaccum.fingerprint import LINEAR, Fingerprint, as_fraction
from gradaccum.still import ON_DARK_PAGES, PICTURE, fitted
from gradaccum.theme import BLUE, GREEN, GREY, PURPLE, VERMILLION

PALE_BLUE = "#8fc1de"

Style = dict[str, Any]
"""Keyword arguments of a drawing method of matplotlib."""

BAND: Style = {"facecolor": GREY, "alpha": 0.15, "edgecolor": "none"}
"""Of a part of a picture that is set off from the rest."""

LABEL: Style = {"facecolor": "white", "edgecolor": "none", "pad": 1}
"""What is behind a text that lies on lines."""

DPI = 100

SHARP = 2
"""Dots of a picture file for each pixel of a page, as screens have them."""

SHADES = LinearSegmentedColormap.from_list("shades", ["#e9ebee", PALE_BLUE, BLUE])


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches. It belongs to no window and no global state."""
    return Figure(figsize=(width, height), dpi=DPI, facecolor="white")


def erase(figure: Figure) -> None:
    """Remove everything from a figure, so that it can be drawn on again."""
    for axes in figure.axes:
        axes.remove()


def as_png(figure: Figure) -> bytes:
    """The figure as a PNG file with a palette, a third of the size and the time of a file in full colour.

    A figure keeps its canvas, which knows the sizes of texts it has drawn before. Without hinting, letters are as legible at
    this size, and drawing takes a fifth less time.
    """
    figure.set_dpi(SHARP * DPI)
    canvas = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    with rc_context({"text.hinting": "none"}):
        canvas.draw()
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB")
    picture = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    palette, background = picture.getpalette(), picture.getpixel((0, 0))
    assert palette is not None
    assert isinstance(background, int)
    palette[3 * background : 3 * background + 3] = 255, 255, 255  # otherwise it is a shade darker than the page
    picture.putpalette(palette)
    file = io.BytesIO()
    picture.save(file, "png")
    return file.getvalue()


ON_DARK, ON_PALE, ON_GREY = "#fefefe", "#0b0b0b", "#6c6c6c"
"""Of texts and dots on coloured areas."""

_COLORED_TEXT = re.compile(rf'(?<=<text style=")([^"]*fill: )({"|".join((BLUE, VERMILLION, GREEN, PURPLE))})', re.IGNORECASE)


_sizes: dict[tuple[str, int, Any], tuple[float, float, float]] = {}
"""Width, height and depth of the texts that have been drawn, by text and font."""


class _Renderer(RendererSVG):
    """Measures each text once; matplotlib's own measures all of them again for each picture, a sixth of the time it takes."""

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        key = (s, hash(prop), ismath)
        if key not in _sizes:
            _sizes[key] = super().get_text_width_height_descent(s, prop, ismath)
        return _sizes[key]


def as_svg(figure: Figure, alt: str) -> str:
    """The figure as an element of a page: crisp at any size, with coloured words dark enough to be legible.

    Faster to make than a PNG file, as nothing is painted; 14 to 170 kB.

    Args:
        figure: what to show.
        alt: its alternative text.
    """
    width, height = (round(DPI * inches) for inches in figure.get_size_inches())
    file = io.StringIO()
    figure.set_dpi(72)
    with rc_context({"svg.fonttype": "none"}):
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        renderer = _Renderer(
            72 * figure.bbox_inches.width, 72 * figure.bbox_inches.height, file, image_dpi=DPI, metadata=no_metadata
        )
        figure.draw(renderer)
        renderer.finalize()
    drawing = re.sub(r' id="[\w.]+_\d+"', "", file.getvalue().partition("<svg")[2].partition(">")[2])
    drawing = _COLORED_TEXT.sub(r"\1color-mix(in srgb, \2 70%, black)", drawing)
    shown = (
        f'<svg class="{PICTURE}" style="{{}}" role="img" aria-label="{escape(alt, quote=True)}" '
        f'viewBox="0 0 {0.72 * width:g} {0.72 * height:g}" width="{width}" height="{height}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<style>{ON_DARK_PAGES}</style>{drawing}"
    )
    return fitted(shown, width)


def tidy(axes: Axes, title: str = "", x: str = "", y: str = "", y_away: float = 30) -> None:
    """Title, labels and no box.

    Everything is put at a fixed place, ``y_away`` hundredths of an inch to the left for the label of the y axis: matplotlib
    would otherwise measure every text of the picture to find room, which takes as long as the drawing.
    """
    width, height = axes.bbox.width * 100 / axes.figure.dpi, axes.bbox.height * 100 / axes.figure.dpi
    axes.set_title(title, fontsize=10.5, loc="left", fontweight="bold", y=1.0)
    axes.set_xlabel(x, fontsize=9.5)
    axes.xaxis.set_label_coords(0.5, -24 / height)
    axes.set_ylabel(y, fontsize=9.5)
    axes.yaxis.set_label_coords(-y_away / width, 0.5)
    axes.tick_params(labelsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)


def label_columns(axes: Axes, labels: Mapping[float, str]) -> None:
    """Texts below the x axis, in place of ticks: of these each is five artists, and takes as long as six texts."""
    axes.set_xticks([])
    below = -4 * axes.figure.dpi / (72 * axes.bbox.height)
    for x, text in labels.items():
        axes.text(x, below, text, transform=axes.get_xaxis_transform(), ha="center", va="top", fontsize=8.5)


def label_rows(axes: Axes, labels: Mapping[float, str]) -> None:
    """Texts to the left of the y axis, in place of ticks, as :func:`label_columns` makes them below the other."""
    axes.set_yticks([])
    left = -4 * axes.figure.dpi / (72 * axes.bbox.width)
    for y, text in labels.items():
        axes.text(left, y, text, transform=axes.get_yaxis_transform(), ha="right", va="center_baseline", fontsize=8.5)


def bar(place: float, low: float, high: float, width: float = 0.72) -> list[tuple[float, float]]:
    """The corners of a bar, or of a part of one, for a ``PolyCollection``: quicker to draw than as many patches."""
    left, right = place - width / 2, place + width / 2
    return [(left, low), (right, low), (right, high), (left, high)]


def draw_fingerprint(
    axes: Axes,
    fingerprint: Fingerprint,
    title: str,
    due: Fingerprint | None = None,
    peak: float = 1.0,
    rows: int = 0,
    room: int = 0,
) -> None:
    """Draw a fingerprint: a row for each update, a column for each micro-batch, the coefficients as fractions.

    Next to a row stands what the coefficients do not say: a changed learning rate, a rest that no combination explains.
    Updates are compared with those due in the same epoch.

    Args:
        axes: where.
        fingerprint: what.
        title: above it.
        due: a fingerprint to compare with; cells that differ from it get a frame, dashed where the whole update is missing.
        peak: the coefficient with the darkest shade; the same for pictures that will be compared.
        rows: the number of updates to leave room for, if that is more than the fingerprints have.
        room: likewise, the number of micro-batches.
    """
    columns, slots = len(fingerprint.columns), _slots(fingerprint, due)
    before = fingerprint.stale is not None and bool((fingerprint.stale.abs() > DIFFERENT).any())
    updates = {u: y for y, (u, _) in enumerate(slots) if u is not None}
    notes = {u: _note(fingerprint, u) for u in updates}
    _draw_cells(axes, list(_cells(fingerprint, due, slots, before)), peak)
    if not updates:
        axes.text((columns - 1) / 2, 0, "no update at all", ha="center", va="center", color=GREY, backgroundcolor="white")
    axes.set_xlim(-1.9 if before else -0.6, max(columns, room) - 0.4 + 2.2 * any(notes.values()))
    axes.set_ylim(max(rows, len(slots), 1) - 0.4, -0.6)
    if before:
        axes.text(-1.3, -0.65, "before", ha="center", va="bottom", fontsize=8)
    for u, y in updates.items():
        axes.text(axes.get_xlim()[0], y, str(u + 1), ha="right", va="center", fontsize=8)
        axes.text(columns - 0.35, y, notes[u], va="center", fontsize=8, color=VERMILLION)
    axes.annotate(
        "update", (0, 1), (-11.5, 0), "axes fraction", "offset points", va="top", ha="right", rotation=90, fontsize=9.5
    )
    new_epochs = _new_epochs(fingerprint)
    low, high = axes.get_xlim()
    right = (columns - 0.4 - low) / (high - low) if room > columns else 1.0
    _draw_column_numbers(axes, title, columns, _meaning(fingerprint), right)
    for k in new_epochs:
        axes.plot([k - 0.5] * 2, [-0.6, len(slots) - 0.4], color=GREY, linewidth=1, linestyle=":")


def found_title(same: bool) -> str:
    """The title of a fingerprint that is drawn below the one that is due."""
    return "found: the same" if same else "found (marked: not as due)"


TITLE_POINTS, MEANING_POINTS = 10.5, 8.0
"""Sizes of the two texts above a fingerprint: its title, and what its columns are."""


def _new_epochs(fingerprint: Fingerprint) -> list[int]:
    """Columns that begin another epoch than the one before them."""
    epochs = [epoch for epoch, _ in fingerprint.columns]
    return [k for k in range(1, len(epochs)) if epochs[k] != epochs[k - 1]]


def _meaning(fingerprint: Fingerprint) -> str:
    return f"micro-batch{', dotted line: next epoch' if _new_epochs(fingerprint) else ''}"


def heading_inches(title: str, fingerprint: Fingerprint) -> float:
    """The width that the two texts above a fingerprint need to stand side by side."""
    words = ((title, FontProperties(weight="bold"), TITLE_POINTS), (_meaning(fingerprint), FontProperties(), MEANING_POINTS))
    points = sum(float(TextPath((0, 0), text, size, prop=font).get_extents().width) for text, font, size in words)
    return math.ceil(10 * (points / 72 + 0.1)) / 10  # in whole pixels


def draw_strip(axes: Axes, coefficients: Sequence[float], title: str, peak: float = 1.0) -> None:
    """Draw one row of coefficients, the content of ``.grad`` at some moment, in the manner of a fingerprint."""
    columns = len(coefficients)
    _draw_cells(axes, [_Cell(k, 0, value, False) for k, value in enumerate(coefficients)], peak)
    axes.set(xlim=(-0.6, columns - 0.4), ylim=(0.6, -0.6))
    _draw_column_numbers(axes, title, columns, "micro-batch")


def _draw_column_numbers(axes: Axes, title: str, columns: int, meaning: str, right: float = 1.0) -> None:
    """Title and numbers above the cells; ``meaning`` ends at ``right``, as a share of the axes' width.

    Plain texts: an axis and its ticks are five artists for each number.
    """
    axes.set_axis_off()
    axes.set_title(title, fontsize=TITLE_POINTS, loc="left", fontweight="bold", y=1.0, pad=15)
    axes.set_title(meaning, fontsize=MEANING_POINTS, loc="right", color=GREY, x=right, y=1.0, pad=15)
    top = axes.get_ylim()[1]
    for k in range(columns):
        axes.text(k, top - 0.05, str(k + 1), ha="center", va="bottom", fontsize=8)


DIFFERENT = 1e-4
"""Two coefficients that differ by more are different; those of different loops differ by more than 1e-2."""


@dataclass(frozen=True)
class _Cell:
    """A coefficient at its place; ``value`` is None where a whole update is missing."""

    x: float
    y: float
    value: float | None
    differs: bool


def _slots(fingerprint: Fingerprint, due: Fingerprint | None) -> list[tuple[int | None, int | None]]:
    """Which update stands in each row of the picture, and which one is due there; one of them may be missing."""
    due = due or fingerprint
    slots: list[tuple[int | None, int | None]] = []
    for epoch in sorted({epoch for epoch, _ in fingerprint.columns}):
        found, wanted = ([u for u, of in enumerate(one.row_epochs) if of == epoch] for one in (fingerprint, due))
        slots += itertools.zip_longest(found, wanted)
    return slots


def _cells(
    fingerprint: Fingerprint, due: Fingerprint | None, slots: list[tuple[int | None, int | None]], before: bool
) -> Iterator[_Cell]:
    """All cells of the picture."""
    wanted = (due or fingerprint).coefficients.tolist()
    blank = [0.0] * len(fingerprint.columns)
    for y, (u, right_u) in enumerate(slots):
        right_row = blank if right_u is None else wanted[right_u]
        if u is None:
            yield from (_Cell(k, y, None, True) for k, right in enumerate(right_row) if right)
            continue
        if before:
            assert fingerprint.stale is not None
            value = float(fingerprint.stale[u])
            yield _Cell(-1.3, y, value, abs(value) > DIFFERENT)
        for k, (value, right) in enumerate(zip(fingerprint.coefficients[u].tolist(), right_row, strict=True)):
            yield _Cell(k, y, value, abs(value - right) > DIFFERENT)


def _draw_cells(axes: Axes, cells: list[_Cell], peak: float) -> None:
    """Few artists for many cells: the time a picture takes is the number of its artists."""
    for missing in (False, True):
        group = [cell for cell in cells if (cell.value is None) is missing]
        if not group:
            continue
        squares = [_square(cell.x, cell.y) for cell in group]
        axes.add_collection(
            PolyCollection(
                squares,
                facecolors=["none" if cell.value is None else _shade(cell.value / peak) for cell in group],
                edgecolors=[VERMILLION if cell.differs else "white" for cell in group],
                linewidths=[1.6 if cell.differs else 1.0 for cell in group],
                linestyles="--" if missing else "-",
            ),
            autolim=False,
        )
    zeros = [cell for cell in cells if cell.value is not None and not _text(cell.value)]
    axes.plot([cell.x for cell in zeros], [cell.y for cell in zeros], linestyle="", marker=".", markersize=2.5, color=ON_GREY)
    for cell in cells:
        if cell.value is not None and (text := _text(cell.value)):
            color = ON_DARK if abs(cell.value) / peak > 0.93 else ON_PALE  # whichever has more contrast
            weight = "bold" if cell.differs else "normal"
            axes.text(cell.x, cell.y, text, ha="center", va="center", fontsize=8, color=color, fontweight=weight)


def _text(value: float) -> str:
    """What fits into a cell."""
    text = as_fraction(value)
    return f"{value:.2f}".replace("-0.", "−.").replace("-", "−") if len(text) > 5 or "." in text else text


def _shade(share: float) -> tuple[float, float, float, float]:
    """Rounded, because fractions like 1/4 lie between two shades, and rounding errors would choose."""
    return SHADES(min(1.0, round(abs(share), 6)))


def _square(x: float, y: float) -> list[tuple[float, float]]:
    return [(x - 0.45, y - 0.45), (x + 0.45, y - 0.45), (x + 0.45, y + 0.45), (x - 0.45, y + 0.45)]


def _note(fingerprint: Fingerprint, u: int) -> str:
    rate, rest = float(fingerprint.rates[u]), float(fingerprint.residuals[u])
    said = [f"rate × {as_fraction(rate)}"] if abs(rate - 1) > DIFFERENT else []
    return "  ".join([*said, *([f"+ rest {rest:.0%}"] if rest > LINEAR else [])])
