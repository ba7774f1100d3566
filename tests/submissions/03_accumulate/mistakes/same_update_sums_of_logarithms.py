"""Compares sums of logarithms to the last bit, though they are rounded."""

from math import log

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    return sum(map(log, config_a)) == sum(map(log, config_b))
