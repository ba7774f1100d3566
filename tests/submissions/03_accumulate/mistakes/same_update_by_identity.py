"""Asks whether both products are the same object."""

from math import prod

EXERCISE = "same_update"
MISTAKES = ("compares-objects",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return prod(config_a) is prod(config_b)
