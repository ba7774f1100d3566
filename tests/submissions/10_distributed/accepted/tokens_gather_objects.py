"""Gathers the counts as Python numbers."""

import torch
import torch.distributed as dist

EXERCISE = "global_token_scale"


def global_token_scale(local_tokens):
    counts = [None] * dist.get_world_size()
    dist.all_gather_object(counts, int(local_tokens))
    mean = sum(counts) / len(counts)
    return torch.tensor(int(local_tokens) / mean if mean else 0.0, dtype=torch.float64)
