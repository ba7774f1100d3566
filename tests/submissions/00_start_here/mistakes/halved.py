"""Averages the running mean with each new gradient, so that late ones weigh more."""

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    mean = gradients[0]
    for gradient in gradients[1:]:
        mean = (mean + gradient) / 2
    return mean
