"""The look of the course's pictures: colours, figures, and the drawing of a fingerprint. Needs matplotlib."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gradaccum.fingerprint import Fingerprint, as_fraction

BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6b6b6b"
"""Okabe-Ito colours, told apart with every kind of colour vision; never the only sign, see line styles and labels."""

DPI = 100
SHADES = LinearSegmentedColormap.from_list("shades", ["#f4f4f4", "#8fc1de", BLUE])


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches. It belongs to no window and no global state."""
    return Figure(figsize=(width, height), dpi=DPI, facecolor="white")


def tidy(axes: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """Title, labels and no box."""
    axes.set_title(title, fontsize=10.5, loc="left", fontweight="bold")
    axes.set_xlabel(x, fontsize=9.5)
    axes.set_ylabel(y, fontsize=9.5)
    axes.tick_params(labelsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)


def draw_fingerprint(
    axes: Axes, fingerprint: Fingerprint, title: str, due: Fingerprint | None = None, peak: float = 1.0
) -> None:
    """Draw a fingerprint: a row for each update, a column for each micro-batch, the coefficients as fractions.

    Args:
        axes: where.
        fingerprint: what.
        title: above it.
        due: a fingerprint to compare with; cells that differ from it get a frame.
        peak: the coefficient with the darkest shade; the same for pictures that are to be compared.
    """
    rows, columns = fingerprint.coefficients.shape
    has_stale = fingerprint.stale is not None and bool((fingerprint.stale.abs() > 1e-4).any())
    tidy(axes, title, "micro-batch", "update")
    if not rows:
        axes.text(0.5, 0.5, "no update at all", ha="center", va="center", transform=axes.transAxes, color=GREY)
        axes.set(xticks=[], yticks=[])
        return
    if has_stale:
        _draw_row_cells(axes, -1.3, fingerprint.stale.tolist(), [0.0] * rows, peak, columns)
    for k in range(columns):
        column = fingerprint.coefficients[:, k].tolist()
        wanted = column if due is None else [_coefficient(due, u, k) for u in range(rows)]
        _draw_row_cells(axes, k, column, wanted, peak, columns)
    axes.set_xlim(-1.9 if has_stale else -0.6, columns - 0.4)
    axes.set_ylim(rows - 0.4, -0.6)
    axes.set_xticks(([-1.3] if has_stale else []) + list(range(columns)))
    axes.set_xticklabels((["before"] if has_stale else []) + [str(k + 1) for k in range(columns)])
    axes.set_yticks(range(rows), [str(u + 1) for u in range(rows)])
    axes.tick_params(length=0, labelsize=8)
    axes.spines[:].set_visible(False)
    for k in range(1, columns):
        if fingerprint.columns[k][0] != fingerprint.columns[k - 1][0]:
            axes.axvline(k - 0.5, color=GREY, linewidth=1, linestyle=":")


def _draw_row_cells(axes: Axes, x: float, values: list[float], wanted: list[float], peak: float, columns: int) -> None:
    """One column of cells, from the first update down."""
    for u, (value, due) in enumerate(zip(values, wanted, strict=True)):
        differs = abs(value - due) > 1e-4
        share = min(1.0, abs(value) / peak)
        frame = {"edgecolor": VERMILLION, "linewidth": 1.6} if differs else {"edgecolor": "white", "linewidth": 1}
        axes.add_patch(Rectangle((x - 0.45, u - 0.45), 0.9, 0.9, facecolor=SHADES(share), **frame))
        text = as_fraction(value) or ("·" if columns <= 24 else "")
        color = "white" if share > 0.7 else "black"
        axes.text(x, u, text, ha="center", va="center", fontsize=8 if columns <= 14 else 7, color=color)


def _coefficient(fingerprint: Fingerprint, u: int, k: int) -> float:
    return float(fingerprint.coefficients[u, k]) if u < len(fingerprint.coefficients) else 0.0
