"""Returns the share of all tokens."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("world-size-missing",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return local_tokens / total.clamp(min=1)
