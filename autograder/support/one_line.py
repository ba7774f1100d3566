"""Text that fits on one line of a terminal or a log."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text with a space for each character that is not printable, including line ends and terminal codes."""
    return "".join(character if character.isprintable() else " " for character in text)
