"""Returns the factor for summed losses."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("scale-for-sums",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return dist.get_world_size() / total.clamp(min=1)
