"""Counts a second pass from three micro-batches on."""

import torch

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("forwards", "bytes")


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps <= 2:
        return 1, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * torch.empty(0, dtype=dtype).element_size()
