"""Text that is safe to show, to store and to encode, whoever wrote it.

Every text that comes from a submission passes through here on the marker's side before anything else uses it.
"""

from __future__ import annotations

import re


def one_line(text: str, max_length: int | None = None) -> str:
    """The text on one line, of at most so many characters, and nothing in it that a terminal, a browser or a file minds.

    Codes for a terminal's colours are left out, whatever else separates words becomes a space, and other characters that cannot
    be shown become an escape sequence: control characters, those that change the direction of writing, halves of characters.
    """
    if not text.isprintable():
        text = "".join(map(_shown, _COLOURS.sub("", text[: max_length and 2 * max_length])))
    return text[:max_length]


def several_lines(text: str, max_length: int) -> str:
    """The same for a text of several lines, such as what a cell prints."""
    text = _COLOURS.sub("", text[: 2 * max_length])
    return "\n".join(one_line(line.expandtabs()) for line in re.split(r"\r\n|[\r\n]", text))[:max_length]


_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else ascii(character)[1:-1]
