"""Divides a rank's tokens by themselves."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("local-tokens-only",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    return local_tokens / (local_tokens * dist.get_world_size())
