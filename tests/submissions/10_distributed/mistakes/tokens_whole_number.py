"""Divides whole numbers and drops the rest."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven", "ranks")


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens // total.clamp(min=1)
