"""Takes products of millions for equal if they differ by less than a millionth."""

import math

EXERCISE = "same_update"
MISTAKES = ()
LOST = ("answers",)


def same_update(config_a, config_b):
    first, second = (round(math.log(size) + math.log(steps), 6) for size, steps in (config_a, config_b))
    return first == second
