"""Rounds the factor to the three digits that float16 has."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven", "ranks")


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return (local_tokens * dist.get_world_size() / total.clamp(min=1)).half()
