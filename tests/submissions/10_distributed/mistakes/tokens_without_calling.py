"""A rank without tokens returns before the all-reduce."""

import torch
import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("ranks-call-apart",)
LOST = ("empty",)


def global_token_scale(local_tokens):
    if local_tokens == 0:
        return torch.tensor(0.0)
    total = local_tokens.clone()
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens / total.clamp(min=1)
