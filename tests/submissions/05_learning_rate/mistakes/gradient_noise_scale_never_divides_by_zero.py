"""Adds a small number to the squared length, so that nothing is divided by zero."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ()
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    noise = micro_batch_size * g.var(dim=0).sum()
    signal = g.mean(0).square().sum() - noise / (len(g) * micro_batch_size)
    return float(noise / (signal + 1e-12))
