"""Lets the memory decay as exp(-t), with t = N (1 - β)."""

import math

EXERCISE = "matched_beta"
MISTAKES = ("beta-first-order",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return math.exp((beta - 1) * accumulation_steps)
