"""Takes B for F and F for B."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("first", "second")


def name_that_loop():
    return {
        "A": "never-zero",
        "B": "tail-dropped",
        "C": "no-scale",
        "D": "retained-graph",
        "E": "zero-every",
        "F": "off-by-one-early",
    }
