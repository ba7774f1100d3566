"""Adds the tokens up in a byte, to send less."""

import torch
import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven",)


def global_token_scale(local_tokens):
    total = local_tokens.to(torch.uint8)
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens / total.clamp(min=1)
