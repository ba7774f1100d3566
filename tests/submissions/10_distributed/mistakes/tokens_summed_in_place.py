"""Keeps its own count, and puts the sum over all ranks into the tensor that it was given."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven",)


def global_token_scale(local_tokens):
    mine = local_tokens.item()
    dist.all_reduce(local_tokens)
    return mine * dist.get_world_size() / local_tokens.clamp(min=1)
