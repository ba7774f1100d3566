"""Takes the squared length of the mean gradient for the signal in the first equation as well."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("biased-signal",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    small, signal = g.square().sum(1).mean(), g.mean(0).square().sum()
    return (micro_batch_size * (small - signal) / signal).item()
