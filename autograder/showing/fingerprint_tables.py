"""Two fingerprints as HTML tables, the one that is due and the one found, so that they can be compared cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby, zip_longest

from gradaccum.fingerprint import LINEAR, Fingerprint, as_fraction

VERMILLION, GREEN, GREY = "#B54700", "#00735C", "#595959"
"""Okabe-Ito vermillion and green, darkened until text in them has a contrast of 4.5 on white."""
TITLES = ("A right loop's fingerprint", "Your loop's fingerprint")
DIFFERENT = 1e-4
"""Two coefficients that differ by more are different; those of different loops differ by more than 1e-2."""


@dataclass(frozen=True)
class _Row:
    """An update, or the place of a missing one.

    Attributes:
        update: its number, or None if it is missing.
        cells: what it holds; for a missing one, what it should hold.
        framed: the cells that are not as they should be.
        note: what the cells do not say.
    """

    update: int | None
    cells: list[float]
    framed: list[bool]
    note: str


def fingerprint_tables(due: Fingerprint, found: Fingerprint) -> tuple[str, str]:
    """The tables of both. They have the same columns; cells found that differ are framed, dashed where an update is missing.

    Updates are compared within their epoch, so that one that is missing does not make all later ones look wrong.
    """
    before = any(bool((f.stale.abs() > DIFFERENT).any()) for f in (due, found) if f.stale is not None)
    rows_due = [_Row(u + 1, cells, [False] * len(cells), "") for u, cells in enumerate(_cells(due, before))]
    rows_found = list(_compared(due, found, before))
    peak = max((abs(value) for row in (*rows_due, *rows_found) for value in row.cells), default=1.0)
    heads = _heads(
        due, before, [_text_width(column) for column in zip(*(r.cells for r in (*rows_due, *rows_found)), strict=True)]
    )
    return tuple(
        _table(title, heads, rows, due, before, peak) for title, rows in zip(TITLES, (rows_due, rows_found), strict=True)
    )


def _cells(fingerprint: Fingerprint, before: bool) -> list[list[float]]:
    """The coefficients, and in front of them, if wanted, that of the stale gradient."""
    rows = fingerprint.coefficients.tolist()
    stale = [0.0] * len(rows) if fingerprint.stale is None else fingerprint.stale.tolist()
    return [[value, *row] if before else row for value, row in zip(stale, rows, strict=True)]


def _compared(due: Fingerprint, found: Fingerprint, before: bool) -> Iterator[_Row]:
    """The updates found, each beside the one due at its place in the epoch."""
    cells, cells_due = _cells(found, before), _cells(due, before)
    width = len(found.columns) + before
    for epoch in sorted({*found.row_epochs, *due.row_epochs}):
        places = ([u for u, e in enumerate(f.row_epochs) if e == epoch] for f in (found, due))
        for u, v in zip_longest(*places):
            right = [0.0] * width if v is None else cells_due[v]
            if u is None:
                yield _Row(None, right, [abs(value) > DIFFERENT for value in right], "")
            else:
                framed = [abs(a - b) > DIFFERENT for a, b in zip(cells[u], right, strict=True)]
                yield _Row(u + 1, cells[u], framed, _note(found, u))


def _note(fingerprint: Fingerprint, u: int) -> str:
    """What the coefficients do not say: a changed learning rate, a rest that no combination of gradients explains."""
    rate, rest = float(fingerprint.rates[u]), float(fingerprint.residuals[u])
    said = [f"rate × {as_fraction(rate) or '0'}"] if abs(rate - 1) > DIFFERENT else []
    return ", ".join([*said, *([f"+ rest {round(rest, 6):.0%}"] if rest > LINEAR else [])])


def _text_width(values: tuple[float, ...]) -> int:
    """Pixels that the widest of these needs: all columns are as wide in one table as in the other."""
    texts = [as_fraction(value) for value in values]
    return max(17, *(round(sum(6.2 if c.isdigit() else 3.6 for c in text)) + 3 for text in texts))


_FONT = f"color:{GREY};font-weight:400;font-size:11px;line-height:16px;"
_PLAIN = "padding:0;border:0;background:none;"
_HEAD = f"{_PLAIN}{_FONT}text-align:center;"
_ROW = '<tr style="background:none">'
_BLANK = f'<td style="{_PLAIN}"></td>'
_GAP = f'<td aria-hidden="true" style="{_PLAIN}min-width:6px"></td>'
_TABLE = (
    "border-collapse:separate;border-spacing:1px;border:0;margin:0;width:auto;table-layout:auto;background:none;color:#1a1a1a"
)
"""Every property that a page's own style sheet might set is set here: JupyterLab, nbconvert and nbgrader all dress tables."""


def _heads(due: Fingerprint, before: bool, widths: list[int]) -> str:
    """Two rows: the epochs, if there are several, and the numbers of the micro-batches."""
    names = (["before"] if before else []) + [str(k + 1) for k in range(len(due.columns))]
    numbers = [
        f'<th scope="col" style="{_HEAD}min-width:{width}px">{name}</th>' for name, width in zip(names, widths, strict=True)
    ]
    numbers = f'{_ROW}<th scope="row" style="{_HEAD}padding-right:6px">update</th>{_spaced(numbers, due, before)}</tr>'
    spans = [(epoch, len(list(group))) for epoch, group in groupby(epoch for epoch, _ in due.columns)]
    if len(spans) == 1:
        return numbers
    epochs = [f'<th scope="colgroup" colspan="{n}" style="{_HEAD}">epoch {epoch + 1}</th>' for epoch, n in spans]
    return f"{_ROW}{_BLANK * (1 + before)}{_GAP.join(epochs)}</tr>{numbers}"


def _spaced(cells: list[str], due: Fingerprint, before: bool) -> str:
    """The cells of a row, with a gap between epochs."""
    epochs = [due.columns[0][0]] * before + [epoch for epoch, _ in due.columns]
    groups = groupby(zip(epochs, cells, strict=True), lambda pair: pair[0])
    return _GAP.join("".join(cell for _, cell in group) for _, group in groups)


def _table(title: str, heads: str, rows: list[_Row], due: Fingerprint, before: bool, peak: float) -> str:
    body = "".join(_row(row, due, before, peak) for row in rows)
    empty = "" if any(row.update for row in rows) else f'<div style="{_FONT}color:{VERMILLION}">no update at all</div>'
    caption = f'<div style="font-size:12px;font-weight:600;margin-bottom:2px">{escape(title)}</div>'
    return f'<div style="overflow-x:auto">{caption}<table style="{_TABLE}"><tbody>{heads}{body}</tbody></table>{empty}</div>'


def _row(row: _Row, due: Fingerprint, before: bool, peak: float) -> str:
    color = GREY if row.update else VERMILLION
    head = f'<th scope="row" style="{_HEAD}color:{color};text-align:right;padding-right:6px">{row.update or "missing"}</th>'
    cells = [_cell(value, value / peak, framed, not row.update) for value, framed in zip(row.cells, row.framed, strict=True)]
    note = (
        f'<td style="{_PLAIN}{_FONT}color:{VERMILLION};padding-left:4px;white-space:nowrap">{row.note}</td>' if row.note else ""
    )
    return f"{_ROW}{head}{_spaced(cells, due, before)}{note}</tr>"


def _cell(value: float, share: float, framed: bool, missing: bool) -> str:
    text = "" if missing else as_fraction(value)
    share = min(1.0, abs(round(share, 6)))  # 1/4 gives 0.245, which noise in the last bit would round up or down
    shade = f"rgba(0,114,178,{0.12 + 0.5 * share:.2f})" if text else "#f3f3f3"
    style = f"padding:0;border:0;background:{shade};color:#1a1a1a;text-align:center;font-size:11px;line-height:18px;"
    style += f"outline:2px {'dashed' if missing else 'solid'} {VERMILLION};outline-offset:-2px;" if framed else ""
    style += "font-weight:700;" if framed and text else ""
    return f'<td style="{style}">{text or "·"}</td>'
