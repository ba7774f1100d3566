"""Students' Markdown and pictures, made safe for a reader's browser: no tag, no script, nothing to run.

Jupyter sanitises what it shows of a notebook that it does not trust; formgrader and feedback pages do not.
"""

from __future__ import annotations

import html
import re

SAFE_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Types of attachments that are kept. An SVG may hold scripts."""


def safe_markdown(markdown: str) -> str:
    """Markdown without HTML tags and without addresses that run something: each is broken up by a space.

    Works on the text and not on its parsed form, since several Markdown parsers read it, each in its own way.
    """
    broken = _REFERENCE.sub(_broken_reference, markdown)
    broken = _TAG.sub("< ", broken)
    return _SCHEME.sub(r"\1 :", broken)


def safe_attachments(attachments: dict) -> dict[str, dict[str, str]]:
    """The attachments of a cell that are pictures, by name and media type; everything else is left out."""
    kept = {}
    for name, contents in attachments.items():
        if isinstance(name, str) and isinstance(contents, dict):
            pictures = {mime: data for mime, data in contents.items() if mime in SAFE_PICTURES and _is_base64(data)}
            if pictures and name.isprintable():
                kept[name] = pictures
    return kept


def _spelt(word: str) -> str:
    """A pattern for a word as browsers read it in an address: they ignore tabs, line ends and control characters."""
    return r"[\x00-\x1f]*".join(word)


_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PICTURE_DATA = "|".join(re.escape(mime) for mime in SAFE_PICTURES)
_SCHEME = re.compile(
    rf"({_spelt('javascript')}|{_spelt('vbscript')}|{_spelt('data')}(?=[\s\\]*:(?![ \n]|$|(?:{_PICTURE_DATA})\b)))[\s\\]*:",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"&((?:amp;)*#?\w+;?)")
_HIDING = re.compile(r"[A-Za-z:\x00-\x20\\]")  # characters that a reference can hide in an address


def _broken_reference(match: re.Match[str]) -> str:
    """A character reference, broken up if it could spell out an address; others, such as ``&lt;``, are left."""
    written, meant = match[0], html.unescape(match[0])
    while meant != written:  # some readers decode twice
        written, meant = meant, html.unescape(meant)
    return f"& {match[1]}" if _HIDING.match(meant) else match[0]


def _is_base64(data: object) -> bool:
    return isinstance(data, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", data) is not None
