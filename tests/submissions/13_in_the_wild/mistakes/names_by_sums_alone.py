"""Reads only what rows add up to."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full", "leftovers", "windows")


def name_those_trainers(fingerprints):
    names = []
    for one in fingerprints:
        first = sum(one["found"][0])
        names.append("no-scale" if first > 1.5 else "right" if first > 0.999 else "wrong-total")
    return names
