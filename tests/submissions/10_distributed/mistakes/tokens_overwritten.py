"""Sums in place and divides by what it has overwritten."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("count-overwritten",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    dist.all_reduce(total := local_tokens)
    return dist.get_world_size() * local_tokens / total.clamp(min=1)
