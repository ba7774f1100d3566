"""Model answers as HTML, folded until a student opens them, and as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from gradaccum.theme import FAINT, GREEN, card, paragraph

SUMMARY = "It is right, so compare it with two model answers."

_CODE = (
    f"background:{FAINT};color:inherit;margin:4px 0 12px;padding:8px 10px;overflow-x:auto;white-space:pre;"
    "font:12px/1.45 monospace"
)


def answers_html(answers: Iterable[tuple[str, str]], before: str = "") -> str:
    """A card with some HTML, and answers given as what they show and their source."""
    listings = "".join(_listing(number, shows, source) for number, (shows, source) in enumerate(answers, 1))
    summary = f'<summary style="cursor:pointer;font-weight:600">{SUMMARY}</summary>'
    return card(GREEN, "", [before, f"<details>{summary}{listings}</details>"])


def answers_text(answers: Iterable[tuple[str, str]]) -> str:
    """The same in plain text."""
    return "\n\n".join(f"Model answer {number}. {shows}\n\n{source}" for number, (shows, source) in enumerate(answers, 1))


def _listing(number: int, shows: str, source: str) -> str:
    said = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(shows))
    code = f'<pre tabindex="0" aria-label="Model answer {number}" style="{_CODE}">{escape(source)}</pre>'
    return paragraph(f"<b>Answer {number}.</b> {said}") + code
