"""Stacks the gradients and takes one mean over the new dimension.

Keeps a running mean, which holds one gradient at a time however many there are.
"""


def average_gradients(gradients):
    mean = gradients[0].clone()
    for count, gradient in enumerate(gradients[1:], start=2):
        mean += (gradient - mean) / count
    return mean
