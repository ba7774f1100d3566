"""Returns a list where a tensor was due."""

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return (sum(gradients) / len(gradients)).tolist()
