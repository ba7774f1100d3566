"""Looks a letter up that is not there."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("first", "second")


def name_that_loop():
    answers = {"A": "never-zero"}
    return {letter: answers[letter] for letter in "ABCDEF"}
