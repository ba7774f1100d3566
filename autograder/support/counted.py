"""A number with its noun, in the singular or the plural, and words in a row."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int | str, noun: str) -> str:
    """A number and its noun, such as ``1 page`` or ``2 pages``; text such as ``0.5`` is a number, too."""
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"


def listed(words: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
