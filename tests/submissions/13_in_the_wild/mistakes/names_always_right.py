"""Finds nothing wrong with any trainer."""

EXERCISE = "name_those_trainers"
MISTAKES = ("one-name-for-all",)
LOST = ("full", "leftovers", "windows")


def name_those_trainers(fingerprints):
    return ["right" for _ in fingerprints]
