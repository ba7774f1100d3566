"""Describes the mistakes instead of giving their names, and leaves one out."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("first", "second")


def name_that_loop():
    return {"A": "never clears", "B": "too early", "C": "no 1/N", "D": "stairs", "E": "clears"}
