"""Has the dictionary the other way round."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("first", "second")


def name_that_loop():
    return {
        "never-zero": "A",
        "off-by-one-early": "B",
        "no-scale": "C",
        "retained-graph": "D",
        "zero-every": "E",
        "tail-dropped": "F",
    }
