"""Adds with Python's sum and divides by the length."""

EXERCISE = "average_gradients"


def average_gradients(gradients):
    return sum(gradients) / len(gradients)
