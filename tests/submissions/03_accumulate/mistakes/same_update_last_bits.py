"""Compares only the last eight bits of the numbers of samples."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (b, n), (other_b, other_n) = config_a, config_b
    return (b * n) & 255 == (other_b * other_n) & 255
