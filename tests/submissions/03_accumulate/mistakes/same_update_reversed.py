"""Says whether the updates differ."""

from math import prod

EXERCISE = "same_update"
MISTAKES = ("answer-reversed",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return prod(config_a) != prod(config_b)
