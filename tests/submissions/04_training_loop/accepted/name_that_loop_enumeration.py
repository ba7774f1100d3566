"""Names as members of an enumeration of texts."""

from enum import Enum

EXERCISE = "name_that_loop"


class Name(str, Enum):
    A = "never-zero"
    B = "off-by-one-early"
    C = "no-scale"
    D = "retained-graph"
    E = "zero-every"
    F = "tail-dropped"


def name_that_loop():
    return {name.name: name for name in Name}
