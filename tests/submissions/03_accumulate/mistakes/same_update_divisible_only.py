"""Wants one micro-batch to be made of several of the other."""

from math import prod

EXERCISE = "same_update"
MISTAKES = ("divisible-only",)
LOST = ("answers",)


def same_update(config_a, config_b):
    small, large = sorted((config_a[0], config_b[0]))
    return prod(config_a) == prod(config_b) and large % small == 0
