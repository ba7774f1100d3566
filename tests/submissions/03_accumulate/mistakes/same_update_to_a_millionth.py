"""Takes numbers of samples for the same that differ by less than a millionth."""

import math

EXERCISE = "same_update"
MISTAKES = ("compares-roughly",)
LOST = ("answers",)


def same_update(config_a, config_b):
    return math.isclose(math.prod(config_a), math.prod(config_b), rel_tol=1e-6)
