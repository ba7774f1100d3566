"""Puts the gradients into a dictionary by identity, so a tensor that is in the list twice counts once."""

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    distinct = {id(gradient): gradient for gradient in gradients}
    return sum(distinct.values()) / len(distinct)
