"""Divides signal by noise."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("noise-inverted",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    n, b = len(g), micro_batch_size
    small, large = g.square().sum(1).mean(), g.mean(0).square().sum()
    noise = (small - large) / (1 / b - 1 / (b * n))
    return ((small - noise / b) / noise).item()
