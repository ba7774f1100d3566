"""Compares the micro-batch sizes."""

EXERCISE = "same_update"
MISTAKES = ("compares-micro-batch",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return config_a[0] == config_b[0]
