"""Takes micro-batches for single samples."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("forgets-micro-batch-size",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    noise = g.var(dim=0).sum()
    return (noise / (g.mean(0).square().sum() - noise / len(g))).item()
