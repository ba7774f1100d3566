"""Multiplies the noise by the sizes, where the equations divide it."""

import numpy as np

EXERCISE = "gradient_noise_scale"
MISTAKES = ()
LOST = ("value",)
SAYS = ("You multiply the noise by B in the first equation",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = np.stack([v.detach().cpu().numpy() for v in micro_gradients])
    n, b = len(g), micro_batch_size
    small = (g**2).sum(axis=1).mean()
    large = (g.mean(axis=0) ** 2).sum()
    signal, noise = np.linalg.solve(np.array([[1.0, b], [1.0, b * n]]), np.array([small, large]))
    return float(noise / signal)
