"""Gives every letter the same name."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("first", "second")


def name_that_loop():
    return dict.fromkeys("ABCDEF", "no-scale")
