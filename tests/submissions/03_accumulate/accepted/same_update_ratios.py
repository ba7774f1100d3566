"""Compares two quotients, each of which is rounded once, so that equal ratios stay equal."""

EXERCISE = "same_update"


def same_update(config_a, config_b):
    return config_a[0] / config_b[0] == config_b[1] / config_a[1]
