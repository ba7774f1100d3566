"""Takes N for the size of the large batch."""

import torch

EXERCISE = "gradient_noise_scale"
MISTAKES = ()
LOST = ("value",)
SAYS = ("In your equations the large batch has N samples, where it has B times N.",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    small, large = micro_batch_size, len(micro_gradients)
    gradients = torch.stack(micro_gradients)
    s = gradients.pow(2).sum(1).mean().item()
    l = gradients.mean(0).pow(2).sum().item()  # noqa: E741
    trace = (s - l) / (1 / small - 1 / large)
    squared = (large * l - small * s) / (large - small)
    return trace / squared
