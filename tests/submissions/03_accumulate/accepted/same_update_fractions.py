"""Compares two ratios as fractions."""

from fractions import Fraction

EXERCISE = "same_update"


def same_update(config_a, config_b):
    return Fraction(config_a[0], config_b[0]) == Fraction(config_b[1], config_a[1])
