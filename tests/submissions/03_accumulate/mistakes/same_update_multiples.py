"""Accepts whole multiples."""

from math import prod

EXERCISE = "same_update"
MISTAKES = ("multiples-accepted",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return max(prod(config_a), prod(config_b)) % min(prod(config_a), prod(config_b)) == 0
