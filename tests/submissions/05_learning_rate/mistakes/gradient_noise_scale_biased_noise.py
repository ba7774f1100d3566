"""Takes S - L for the variance over B."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("biased-noise",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    n, b = len(g), micro_batch_size
    small, large = g.square().sum(1).mean(), g.mean(0).square().sum()
    noise = b * (small - large)
    signal = (b * n * large - b * small) / (b * n - b)
    return (noise / signal).item()
