"""Rounds to six significant digits."""

import torch

EXERCISE = "gradient_noise_scale"


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    noise = micro_batch_size * g.var(dim=0).sum()
    signal = g.mean(0).square().sum() - noise / (len(g) * micro_batch_size)
    return float(f"{float(noise / signal):.6g}")
