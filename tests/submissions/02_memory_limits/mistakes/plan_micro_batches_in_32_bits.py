"""Counts bytes in 32 bits, in which gigabytes overflow."""

import numpy as np

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    sizes = np.arange(1, effective_batch + 1)
    needed = (fixed + per_sample * sizes).astype(np.int32)
    fitting = sizes[(effective_batch % sizes == 0) & (needed <= np.int64(budget).astype(np.int32))]
    if not len(fitting):
        raise ValueError("not even one sample fits")
    return fitting[-1], effective_batch // fitting[-1]
