"""Takes the squared length of the sum."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("lengths-added-up",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    n, b = len(g), micro_batch_size
    small, large = g.square().sum(1).mean(), g.sum(0).square().sum()
    noise = (small - large) / (1 / b - 1 / (b * n))
    signal = (b * n * large - b * small) / (b * n - b)
    return (noise / signal).item()
