"""One rank collects the tokens of the others and sends them the sum, so it makes more calls. The number of ranks is missing."""

import torch
import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ("world-size-missing",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    total = local_tokens.clone().reshape(1)
    if dist.get_rank():
        dist.send(total, 0)
        dist.recv(total, 0)
    else:
        others = range(1, dist.get_world_size())
        for rank in others:
            count = torch.zeros_like(total)
            dist.recv(count, rank)
            total += count
        for rank in others:
            dist.send(total, rank)
    return local_tokens / total[0].clamp(min=1)
