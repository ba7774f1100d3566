"""Adds into the first tensor of the list in place, so the caller's gradients are changed and a second call is wrong."""

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    total = gradients[0]
    for g in gradients[1:]:
        total += g
    total /= len(gradients)
    return total
