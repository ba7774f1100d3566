"""Divides the total by the number of ranks and multiplies by it again."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("world-size-twice",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    mean = total.clamp(min=1) / dist.get_world_size()
    return dist.get_world_size() * local_tokens / mean
