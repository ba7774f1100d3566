"""Compares sums of logarithms, with a tolerance."""

from math import isclose, log

EXERCISE = "same_update"


def same_update(config_a, config_b):
    return isclose(sum(map(log, config_a)), sum(map(log, config_b)))
