"""Compares B + N."""

EXERCISE = "same_update"
MISTAKES = ("compares-sum",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return sum(config_a) == sum(config_b)
