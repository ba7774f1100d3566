"""The signal from products of different micro-batches, which share no noise."""

import torch

EXERCISE = "gradient_noise_scale"


def gradient_noise_scale(micro_gradients, micro_batch_size):
    g = torch.stack(list(micro_gradients))
    products = g @ g.T
    n = len(g)
    own = products.diagonal().mean()
    across = (products.sum() - products.diagonal().sum()) / (n * (n - 1))
    return (micro_batch_size * (own - across) / across).item()
