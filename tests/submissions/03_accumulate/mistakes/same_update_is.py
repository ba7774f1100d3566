"""Asks whether the products are the same object, which small numbers are."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (b, n), (c, m) = config_a, config_b
    return b * n is c * m
