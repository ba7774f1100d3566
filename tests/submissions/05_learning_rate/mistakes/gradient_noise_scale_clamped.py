"""Lets no estimate of the gradient be negative."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("negative-hidden",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    noise = micro_batch_size * g.var(dim=0).sum()
    signal = g.mean(0).square().sum() - noise / (len(g) * micro_batch_size)
    return float(noise / signal.abs())
