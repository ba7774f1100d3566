"""Lets the numbers of samples differ by a twentieth."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (b, n), (c, m) = config_a, config_b
    return abs(b * n - c * m) <= max(b * n, c * m) / 20
