"""Plays the two passes and counts."""

import torch

EXERCISE = "accumulation_cost"


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    passes, held = 0, 0
    for _ in range(accumulation_steps):
        if accumulation_steps > 1:
            passes += micro_batch_size
            for encoder in ("image", "text"):
                held += torch.zeros(micro_batch_size, width, dtype=dtype).untyped_storage().nbytes()
        passes += micro_batch_size
    return passes / (micro_batch_size * accumulation_steps), held
