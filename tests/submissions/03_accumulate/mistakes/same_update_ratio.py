"""Compares how many samples there are for each step."""

EXERCISE = "same_update"
MISTAKES = ("compares-ratio",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return config_a[0] / config_a[1] == config_b[0] / config_b[1]
