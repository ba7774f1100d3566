"""Sums in float and guards the division with where."""

import torch
import torch.distributed as dist

EXERCISE = "global_token_scale"


def global_token_scale(local_tokens):
    mine = local_tokens.double()
    everybody = mine.clone()
    dist.all_reduce(everybody, op=dist.ReduceOp.SUM)
    mean = everybody / dist.get_world_size()
    return torch.where(mean > 0, mine / mean, torch.zeros_like(mine))
