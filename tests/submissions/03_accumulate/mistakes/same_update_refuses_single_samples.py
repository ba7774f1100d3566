"""Takes a micro-batch of one sample for something else."""

from math import prod

EXERCISE = "same_update"
MISTAKES = ("ones-refused",)
LOST = ("answers",)


def same_update(config_a, config_b):
    several = config_a == config_b or 1 not in (config_a[0], config_b[0])
    return several and prod(config_a) == prod(config_b)
