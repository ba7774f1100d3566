"""Returns 1 where every target is ignored."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("ignored",)


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = torch.cat([part[part != ignore_index] for part in targets])
    return max(1, len(kept)) if weight is None or not len(kept) else weight[kept].sum()
