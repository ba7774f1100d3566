"""Returns a list in alphabetical order of the letters."""

EXERCISE = "name_that_loop"
MISTAKES = ()
LOST = ("first", "second")


def name_that_loop():
    return ["never-zero", "off-by-one-early", "no-scale", "retained-graph", "zero-every", "tail-dropped"]
