"""Adds the tokens up in float16, which holds no odd number above 2,048."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven",)


def global_token_scale(local_tokens):
    total = local_tokens.half()
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens.double() / total.double().clamp(min=1)
