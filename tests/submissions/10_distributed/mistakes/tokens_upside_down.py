"""Divides the total by its own count."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("scale-upside-down",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return total / (dist.get_world_size() * local_tokens)
