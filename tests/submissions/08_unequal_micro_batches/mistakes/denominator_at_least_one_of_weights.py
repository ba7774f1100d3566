"""Takes 1 for every denominator below 1, although small weights may add up to less."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("weights",)


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = torch.cat([part[part != ignore_index] for part in targets])
    if not len(kept):
        return 0.0
    return max(1.0, float(len(kept) if weight is None else weight[kept].sum()))
