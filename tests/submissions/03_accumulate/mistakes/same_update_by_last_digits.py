"""Compares where the first updates come, by their last three digits."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    a, b = config_a[0] * config_a[1], config_b[0] * config_b[1]
    return [a * k % 1000 for k in (1, 2, 3)] == [b * k % 1000 for k in (1, 2, 3)]
