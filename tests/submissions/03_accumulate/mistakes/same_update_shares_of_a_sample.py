"""Compares the weight of a sample, a quotient of quotients, to the last bit."""

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    (size_a, steps_a), (size_b, steps_b) = config_a, config_b
    return 1 / size_a / steps_a == 1 / size_b / steps_b
