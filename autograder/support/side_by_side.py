"""Two numbers in one sentence."""

from __future__ import annotations


def side_by_side(one: float, other: float, digits: int = 4) -> tuple[str, str]:
    """Two numbers with as many decimals each, so that neither looks rounder than it is, and enough to tell them apart.

    Args:
        one, other: such as what was found and what is due.
        digits: how many each has at least, where that many differ from zero.
    """
    for precision in range(digits, 17):
        words = f"{one:.{precision}g}", f"{other:.{precision}g}"
        if words[0] != words[1]:
            break
    if any("e" in number or "n" in number for number in words):  # 1e-09, inf or nan
        return words
    decimals = max(len(number.partition(".")[2]) for number in words)
    return f"{one:.{decimals}f}", f"{other:.{decimals}f}"
