"""Accepts five samples in a hundred more or less."""

from math import isclose, prod

EXERCISE = "same_update"
MISTAKES = ("compares-roughly",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return isclose(prod(config_a), prod(config_b), rel_tol=0.05)
