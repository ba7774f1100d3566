"""Compares the accumulation steps."""

EXERCISE = "same_update"
MISTAKES = ("compares-accumulation-steps",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return config_a[1] == config_b[1]
