"""A number with its noun, in the singular or the plural."""

from __future__ import annotations


def counted(number: int | str, noun: str) -> str:
    """A number and its noun, such as ``1 page`` or ``2 pages``; text such as ``0.5`` is a number, too."""
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"
