"""Answers in words."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    return "yes" if config_a[0] * config_a[1] == config_b[0] * config_b[1] else "no"
