"""Two formulas.

Plays both passes and counts forwards and bytes.
"""

import torch


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    forwards, cached = 0, 0
    for _ in range(accumulation_steps):
        forwards += micro_batch_size
        if accumulation_steps > 1:  # a first pass, which caches features of images and of texts
            forwards += micro_batch_size
            cached += torch.empty(2, micro_batch_size, width, dtype=dtype).nbytes
    return forwards / (micro_batch_size * accumulation_steps), cached
