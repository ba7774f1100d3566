"""Takes every dtype but float16 and float64 for four bytes."""

import torch

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("bytes",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    each = {torch.float16: 2, torch.float64: 8}.get(dtype, 4)
    return 2, 2 * micro_batch_size * accumulation_steps * width * each
