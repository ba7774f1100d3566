"""Takes the root in float32."""

import torch

EXERCISE = "scale_learning_rate"


def scale_learning_rate(lr, reference_batch, batch, rule):
    ratio = batch / reference_batch
    if rule == "sqrt":
        return lr * torch.sqrt(torch.tensor(ratio)).item()
    if rule not in ("none", "linear"):
        raise ValueError(f"unknown rule {rule}")
    return lr * ratio if rule == "linear" else lr
