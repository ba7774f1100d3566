"""Compares the effective batch sizes.

Compares ratios: B must grow by the factor by which N shrinks.
"""


def same_update(config_a, config_b):
    return config_a[0] / config_b[0] == config_b[1] / config_a[1]
