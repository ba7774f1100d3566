"""Returns the variance of one sample and divides it by nothing."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ("noise-not-divided",)
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    deviations = torch.stack(list(micro_gradients)) - sum(micro_gradients) / len(micro_gradients)
    return float(micro_batch_size * deviations.square().sum() / (len(micro_gradients) - 1))
