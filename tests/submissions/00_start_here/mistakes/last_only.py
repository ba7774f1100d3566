"""Overwrites its result in every turn of the loop."""

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    for gradient in gradients:
        result = gradient / len(gradients)
    return result
