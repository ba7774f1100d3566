"""Measures it: counts the samples two windows would hold, one list at a time."""

EXERCISE = "same_update"


def samples(config):
    size, steps = config
    return [sample for _ in range(steps) for sample in range(size)]


def same_update(config_a, config_b):
    return len(samples(config_a)) == len(samples(config_b))
