"""The expected fingerprint and the one found as HTML tables that can be compared cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby, zip_longest

from gradaccum.fingerprint import LINEAR, Fingerprint, as_fraction
from gradaccum.theme import BLUE, FAINT, GREY, VERMILLION, text_color, tint

TITLES = ("A right loop's fingerprint", "Your loop's fingerprint")
TOLERANCE = 1e-4
"""Coefficients that differ by more than this are different; those of different loops differ by more than 1e-2."""

LEAST_WIDTH = 17
"""Pixels of a column, so that two digits above it have room."""


@dataclass(frozen=True)
class _Row:
    """A row of a table: an update, or the place of a missing update.

    Attributes:
        update: its number, counted from 1; None if it is missing.
        cells: its coefficients; for a missing update, the expected ones.
        framed: for each cell, whether it differs from what is expected.
        note: what the cells do not show.
    """

    update: int | None
    cells: list[float]
    framed: list[bool]
    note: str


def fingerprint_tables(expected: Fingerprint, found: Fingerprint, titles: tuple[str, str] = TITLES) -> tuple[str, str]:
    """The HTML tables of both fingerprints, with the same columns.

    In the second table, cells that differ are framed; the frame is dashed where an update is missing. Updates are compared
    within their epoch, so that a missing update does not make all later ones look wrong.
    """
    stale = any(bool((f.stale.abs() > TOLERANCE).any()) for f in (expected, found) if f.stale is not None)
    rows_expected = [
        _Row(u, cells, [False] * len(cells), "") for u, cells in enumerate(_cells(expected, stale), expected.before[0] + 1)
    ]
    rows_found = list(_compared_rows(expected, found, stale))
    rows = [*rows_expected, *rows_found]
    peak = max((abs(value) for row in rows for value in row.cells), default=1.0)
    heads = _heads(expected, stale, max((_text_width(value) for row in rows for value in row.cells), default=LEAST_WIDTH))
    return (
        _table(titles[0], heads, rows_expected, expected, stale, peak),
        _table(titles[1], heads, rows_found, expected, stale, peak),
    )


def _cells(fingerprint: Fingerprint, stale: bool) -> list[list[float]]:
    """The coefficients of each update; if ``stale``, that of the gradient from before the run comes first."""
    rows = fingerprint.coefficients.tolist()
    first = [0.0] * len(rows) if fingerprint.stale is None else fingerprint.stale.tolist()
    return [[value, *row] if stale else row for value, row in zip(first, rows, strict=True)]


def _compared_rows(expected: Fingerprint, found: Fingerprint, stale: bool) -> Iterator[_Row]:
    """The updates found, each compared with the expected update at the same place in the epoch."""
    cells, expected_cells = _cells(found, stale), _cells(expected, stale)
    width = len(found.columns) + stale
    for epoch in sorted({*found.row_epochs, *expected.row_epochs}):
        updates = ([u for u, e in enumerate(f.row_epochs) if e == epoch] for f in (found, expected))
        for u, v in zip_longest(*updates):
            correct = [0.0] * width if v is None else expected_cells[v]
            if u is None:
                yield _Row(None, correct, [abs(value) > TOLERANCE for value in correct], "")
            else:
                framed = [abs(a - b) > TOLERANCE for a, b in zip(cells[u], correct, strict=True)]
                yield _Row(found.before[0] + u + 1, cells[u], framed, _note(found, u))


def _note(fingerprint: Fingerprint, u: int) -> str:
    """What the coefficients do not show: a changed learning rate, and a rest that no combination of gradients explains."""
    rate, rest = float(fingerprint.rates[u]), float(fingerprint.residuals[u])
    notes = [f"rate × {as_fraction(rate) or '0'}"] if abs(rate - 1) > TOLERANCE else []
    return ", ".join([*notes, *([f"+ rest {round(rest, 6):.0%}"] if rest > LINEAR else [])])


def _text_width(value: float) -> int:
    """Pixels that a coefficient needs, bold and in a frame. All columns of both tables are as wide as the widest needs."""
    text = as_fraction(value)
    digit, other, frame = (7.8, 4.4, 6) if len(text) > 4 else (7.0, 4.0, 4)  # short ones have room in any font
    return max(LEAST_WIDTH, round(sum(digit if c.isdigit() else other for c in text)) + frame)


_FONT = f"color:{text_color(GREY)};font-weight:400;font-size:11px;line-height:16px;"
_PLAIN = "padding:0;border:0;background:none;"
_HEAD = f"{_PLAIN}{_FONT}text-align:center;"
_ROW = '<tr style="background:none">'
_BLANK = f'<td style="{_PLAIN}"></td>'
_GAP = f'<td aria-hidden="true" style="{_PLAIN}min-width:6px"></td>'
_TABLE = (
    "border-collapse:separate;border-spacing:1px;border:0;margin:0;width:auto;table-layout:auto;background:none;color:inherit"
)
"""Sets every property that the style sheets of JupyterLab, nbconvert and nbgrader set for tables."""


def _heads(expected: Fingerprint, stale: bool, width: int) -> str:
    """Two rows: the epochs, if there are several, and the numbers of the micro-batches."""
    names = (["before"] if stale else []) + [str(expected.before[1] + k + 1) for k in range(len(expected.columns))]
    cells = [f'<th scope="col" style="{_HEAD}min-width:{width}px">{name}</th>' for name in names]
    numbers = f'{_ROW}<th scope="row" style="{_HEAD}padding-right:6px">update</th>{_spaced(cells, expected, stale)}</tr>'
    spans = [(epoch, len(list(group))) for epoch, group in groupby(epoch for epoch, _ in expected.columns)]
    if len(spans) == 1:
        return numbers
    epochs = [f'<th scope="colgroup" colspan="{n}" style="{_HEAD}">epoch {epoch + 1}</th>' for epoch, n in spans]
    return f"{_ROW}{_BLANK * (1 + stale)}{_GAP.join(epochs)}</tr>{numbers}"


def _spaced(cells: list[str], expected: Fingerprint, stale: bool) -> str:
    """The cells of a row, with a gap between epochs."""
    epochs = [expected.columns[0][0]] * stale + [epoch for epoch, _ in expected.columns]
    groups = groupby(zip(epochs, cells, strict=True), lambda pair: pair[0])
    return _GAP.join("".join(cell for _, cell in group) for _, group in groups)


def _table(title: str, heads: str, rows: list[_Row], expected: Fingerprint, stale: bool, peak: float) -> str:
    body = "".join(_row(row, expected, stale, peak) for row in rows)
    empty = (
        "" if any(row.update for row in rows) else f'<div style="{_FONT}color:{text_color(VERMILLION)}">no update at all</div>'
    )
    caption = f'<div style="font-size:12px;font-weight:600;margin-bottom:2px">{escape(title)}</div>'
    return f'<div style="overflow-x:auto">{caption}<table style="{_TABLE}"><tbody>{heads}{body}</tbody></table>{empty}</div>'


def _row(row: _Row, expected: Fingerprint, stale: bool, peak: float) -> str:
    color = text_color(GREY if row.update else VERMILLION)
    head = f'<th scope="row" style="{_HEAD}color:{color};text-align:right;padding-right:6px">{row.update or "missing"}</th>'
    cells = [_cell(value, value / peak, framed, not row.update) for value, framed in zip(row.cells, row.framed, strict=True)]
    note = (
        f'<td style="{_PLAIN}{_FONT}color:{text_color(VERMILLION)};padding-left:4px;white-space:nowrap">{row.note}</td>'
        if row.note
        else ""
    )
    return f"{_ROW}{head}{_spaced(cells, expected, stale)}{note}</tr>"


def _cell(value: float, share: float, framed: bool, missing: bool) -> str:
    text = "" if missing else as_fraction(value)
    share = min(1.0, abs(round(share, 6)))  # rounded, since 1/4 gives a shade of 0.3125, which noise could round either way
    shade = tint(BLUE, 0.2 + 0.45 * share) if text else FAINT
    style = f"padding:0;border:0;background:{shade};color:inherit;text-align:center;font-size:11px;line-height:18px;"
    style += f"outline:2px {'dashed' if missing else 'solid'} {VERMILLION};outline-offset:-2px;" if framed else ""
    style += "font-weight:700;" if framed and text else ""
    return f'<td style="{style}">{text or "·"}</td>'
