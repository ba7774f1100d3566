"""Exact arithmetic with fractions, turned into a float at the end."""

from fractions import Fraction

EXERCISE = "sum_form_lr"


def sum_form_lr(lr: float, accumulation_steps: int) -> float:
    return float(Fraction(lr) * Fraction(1, accumulation_steps))
