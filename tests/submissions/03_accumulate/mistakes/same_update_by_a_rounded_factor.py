"""Multiplies by a quotient that is rounded, and compares to the last bit."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    factor = config_b[0] / config_a[0]
    return config_b[1] * factor == config_a[1]
