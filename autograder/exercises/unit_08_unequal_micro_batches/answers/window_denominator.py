"""Collects all targets that count and looks up their weights.

Counts how often each class occurs and weights the counts.
"""

import torch


def window_denominator(targets, weight=None, ignore_index=-100):
    total = 0.0
    for part in targets:
        counts = torch.bincount(part[part != ignore_index].flatten(), minlength=0 if weight is None else len(weight))
        total = total + (counts.sum() if weight is None else (counts.to(weight) * weight).sum())
    return float(total)
