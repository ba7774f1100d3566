"""Writes the names with blanks."""

EXERCISE = "name_that_loop"


def name_that_loop():
    return {
        "A": "never zero",
        "B": "off by one early",
        "C": "no scale",
        "D": "retained graph",
        "E": "zero every",
        "F": "tail dropped",
    }
