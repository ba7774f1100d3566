"""Bits of a number over eight, everything as floats."""

import torch

EXERCISE = "accumulation_cost"


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    bits = float(torch.finfo(dtype).bits)
    samples = micro_batch_size * accumulation_steps
    once = accumulation_steps < 2
    return (1.0 if once else 2.0), (0.0 if once else samples * (width + width) * bits / 8)
