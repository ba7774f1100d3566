"""Knows no micro-batch of a single sample."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (b, n), (c, m) = config_a, config_b
    return b * n == c * m and (b > 1 and c > 1)
