"""Compares math.prod of both, whatever the length."""

import math

EXERCISE = "same_update"


def same_update(config_a, config_b):
    return math.prod(config_a) == math.prod(config_b)
