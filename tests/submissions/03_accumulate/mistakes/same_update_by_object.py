"""Asks whether the two configurations are one object."""

EXERCISE = "same_update"
MISTAKES = ("same-answer-always",)
LOST = ("answers",)
SAYS = ("In the pairs tried you always give the same answer.",)


def same_update(config_a, config_b):
    return config_a is config_b
