"""Compares products of square roots to the last bit."""

from math import sqrt

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    return sqrt(config_a[0]) * sqrt(config_a[1]) == sqrt(config_b[0]) * sqrt(config_b[1])
