"""Answers A, B and C only."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("second",)


def name_that_loop():
    return {"A": "never-zero", "B": "off-by-one-early", "C": "no-scale"}
