"""A student's text and pictures, made harmless for the browser of whoever reads them: no tag, no script, nothing to run.

Jupyter cleans what it shows of a notebook it does not trust; formgrader and feedback pages do not.
"""

from __future__ import annotations

import html
import re

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Attachments that are kept. An SVG may hold scripts."""


def harmless(markdown: str) -> str:
    """Markdown in which no HTML tag and no address that runs something is left; a blank where it had to be broken up.

    Works on the text and not on what a Markdown parser makes of it, since several read it, each in its own way.
    """
    broken = _REFERENCE.sub(_broken_reference, markdown)
    broken = _TAG.sub("< ", broken)
    return _SCHEME.sub(r"\1 :", broken)


def pictures(attachments: dict) -> dict[str, dict[str, str]]:
    """The attachments of a cell that are pictures and nothing else."""
    kept = {}
    for name, contents in attachments.items():
        if isinstance(name, str) and isinstance(contents, dict):
            right = {mime: data for mime, data in contents.items() if mime in PICTURES and _is_base64(data)}
            if right and name.isprintable():
                kept[name] = right
    return kept


def _spelt(word: str) -> str:
    """A pattern for a word as browsers read addresses: tabs, line ends and control characters do not count."""
    return r"[\x00-\x1f]*".join(word)


_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PICTURE_DATA = "|".join(re.escape(mime) for mime in PICTURES)
_SCHEME = re.compile(
    rf"({_spelt('javascript')}|{_spelt('vbscript')}|{_spelt('data')}(?=[\s\\]*:(?![ \n]|$|(?:{_PICTURE_DATA})\b)))[\s\\]*:",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"&((?:amp;)*#?\w+;?)")
_HIDING = re.compile(r"[A-Za-z:\x00-\x20\\]")  # what a character reference may stand for to hide an address from us


def _broken_reference(match: re.Match[str]) -> str:
    """A character reference that could spell out an address is broken up; others, such as ``&lt;``, are left."""
    written, meant = match[0], html.unescape(match[0])
    while meant != written:  # some readers decode twice
        written, meant = meant, html.unescape(meant)
    return f"& {match[1]}" if _HIDING.match(meant) else match[0]


def _is_base64(data: object) -> bool:
    return isinstance(data, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", data) is not None
