"""A watched run as HTML, for a notebook and for a report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from gradaccum.fingerprint_tables import fingerprint_tables
from gradaccum.theme import GREEN, GREY, VERMILLION, card, paragraph, side_by_side, slug_html
from gradaccum.watching.excerpt import excerpt

if TYPE_CHECKING:
    from gradaccum.watching.seen import Seen

TITLES = ("Due", "Found")


def as_html(seen: Seen) -> str:
    """Self-contained HTML: inline styles only, no script, readable without colour and on pages of any theme."""
    head, *_ = str(seen).split("\n", 1)
    parts = [paragraph(f"{slug_html(mistake.slug)} {escape(mistake.message)}") for mistake in seen.mistakes]
    if seen.fingerprint is not None and seen.due is not None:
        found, due, shown = excerpt(seen.fingerprint, seen.due)
        parts.append(side_by_side(fingerprint_tables(due, found, TITLES)))
        parts += [paragraph(shown)] if shown else []
    parts += [paragraph(escape(note)) for note in seen.notes]
    return card({"due": GREEN, "not due": VERMILLION}.get(seen.outcome, GREY), head, parts)
