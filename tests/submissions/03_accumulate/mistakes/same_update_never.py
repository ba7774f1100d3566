"""Thinks that every other cut makes other updates."""

EXERCISE = "same_update"
MISTAKES = ("same-answer-always",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return False
