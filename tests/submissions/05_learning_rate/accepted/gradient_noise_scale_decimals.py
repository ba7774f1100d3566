"""Rounds to six decimals, and returns a tensor with one element."""

import torch

EXERCISE = "gradient_noise_scale"


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    noise = micro_batch_size * g.var(dim=0).sum()
    signal = g.mean(0).square().sum() - noise / (len(g) * micro_batch_size)
    return (noise / signal).round(decimals=6).reshape(1)
