"""Takes the sum over its own tensor for the sum over the ranks."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("local-tokens-only",)
LOST = ("uneven", "ranks")


def global_token_scale(local_tokens):
    return local_tokens * dist.get_world_size() / local_tokens.sum().clamp(min=1)
