"""A watched run as HTML, for a notebook and for a report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradaccum.fingerprint_tables import GREEN, GREY, VERMILLION, fingerprint_tables
from gradaccum.watching.excerpt import excerpt

if TYPE_CHECKING:
    from gradaccum.watching.seen import Seen

TITLES = ("Due", "Found")

_CARD = (
    "background:#fff;color:#1a1a1a;border:1px solid #ddd;border-radius:4px;padding:8px 14px;max-width:1120px;"
    "font-family:Arial,Helvetica,sans-serif;font-size:14px;line-height:1.45;"
)


def as_html(seen: Seen) -> str:
    """Self-contained HTML: inline styles only, no script, readable without colour and on dark pages."""
    color = {"due": GREEN, "not due": VERMILLION}.get(seen.outcome, GREY)
    head, *_ = str(seen).split("\n", 1)
    parts = [f'<div style="font-weight:600;font-size:15px;color:{color}">{escape(head)}</div>']
    for mistake in seen.mistakes:
        parts.append(_paragraph(f"<code>{escape(mistake.slug)}</code> {escape(mistake.message)}"))
    if seen.fingerprint is not None and seen.due is not None:
        found, due, shown = excerpt(seen.fingerprint, seen.due)
        tables = fingerprint_tables(due, found, TITLES)
        parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:10px 20px;margin:10px 0">{"".join(tables)}</div>')
        parts += [_paragraph(shown)] if shown else []
    parts += [_paragraph(escape(note)) for note in seen.notes]
    return f'<div style="{_CARD}border-left:4px solid {color}">{"".join(parts)}</div>'


def _paragraph(html: str) -> str:
    return f'<p style="margin:6px 0;max-width:80ch">{html}</p>'
