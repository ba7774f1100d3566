"""Text that fits on one line of a terminal or a log."""

from __future__ import annotations


def one_line(text: str) -> str:
    """A text with everything that is not printable, line ends and terminal codes included, replaced by a blank."""
    return "".join(character if character.isprintable() else " " for character in text)
