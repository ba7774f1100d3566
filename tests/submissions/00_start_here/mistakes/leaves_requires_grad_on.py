"""Leaves requires_grad switched on for the tensors that it was given."""

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    for gradient in gradients:
        gradient.requires_grad_()
    return sum(gradients) / len(gradients)
