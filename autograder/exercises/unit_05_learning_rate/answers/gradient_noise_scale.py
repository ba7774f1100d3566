"""Compares mean gradients of two batch sizes and solves for noise and signal.

Takes the unbiased variance over the micro-batches directly, and subtracts the noise that is left in the length of the mean.
"""

import torch


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    noise = micro_batch_size * g.var(dim=0).sum()
    signal = g.mean(0).square().sum() - noise / (len(g) * micro_batch_size)
    return float(noise / signal)
