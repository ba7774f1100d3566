"""Uses lengths that are not squared."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("lengths-not-squared",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    n, b = len(g), micro_batch_size
    small, large = g.norm(dim=1).mean(), g.mean(0).norm()
    noise = (small - large) / (1 / b - 1 / (b * n))
    return (noise / (small - noise / b)).item()
