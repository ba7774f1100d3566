"""Compares the samples per update."""

EXERCISE = "same_update"


def same_update(config_a, config_b):
    (b1, n1), (b2, n2) = config_a, config_b
    return b1 * n1 == b2 * n2
