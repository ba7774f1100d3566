"""Takes two ranks for granted."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("world-size-fixed",)
LOST = ("ranks",)


def global_token_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return 2 * local_tokens / total.clamp(min=1)
