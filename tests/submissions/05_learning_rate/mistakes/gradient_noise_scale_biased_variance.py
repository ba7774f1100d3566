"""Takes the biased variance of the gradients."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("biased-noise",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    n, b = len(g), micro_batch_size
    large = g.mean(0).square().sum()
    noise = b * g.var(dim=0, unbiased=False).sum()
    signal = large - noise / (b * n)
    return (noise / signal).item()
