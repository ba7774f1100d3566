"""Says nothing of a single target."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("count",)


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = torch.cat([part[part != ignore_index] for part in targets])
    if len(kept) == 1:
        return None
    return len(kept) if weight is None else weight[kept].sum()
