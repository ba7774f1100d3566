"""Knows the mistakes by what they do, looks them up, and adds a guess that was not asked for."""

from collections import OrderedDict

EXERCISE = "name_that_loop"

SEEN = {
    "every row repeats those above": "never-zero",
    "a row of width one comes first": "off-by-one-early",
    "ones": "no-scale",
    "stairs": "retained-graph",
    "one cell in each row": "zero-every",
    "a row is missing": "tail-dropped",
}


def name_that_loop():
    answers = OrderedDict((letter, SEEN[sight]) for letter, sight in zip("ABCDEF", SEEN, strict=True))
    answers["G"] = "step-every"
    return answers
