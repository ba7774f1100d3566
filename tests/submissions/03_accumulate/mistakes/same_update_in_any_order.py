"""Lets B and N change places, and nothing else."""

EXERCISE = "same_update"
MISTAKES = ("compares-in-any-order",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return sorted(config_a) == sorted(config_b)
