"""Calls two configurations the same only if they are written alike."""

EXERCISE = "same_update"
MISTAKES = ("compares-configurations",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return config_a == config_b
