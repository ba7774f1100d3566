"""Keeps its own count as a number and overwrites the tensor."""

import torch
import torch.distributed as dist

EXERCISE = "global_token_scale"


def global_token_scale(local_tokens):
    mine = local_tokens.item()
    dist.all_reduce(local_tokens)
    total = local_tokens.item()
    return torch.tensor(0.0 if total == 0 else mine * dist.get_world_size() / total)
