"""Wants the smaller micro-batch to divide the larger."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (b, n), (c, m) = config_a, config_b
    return b * n == c * m and max(b, c) % min(b, c) == 0
