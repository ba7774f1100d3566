"""Returns plain numbers."""

import torch.distributed as dist

EXERCISE = "global_token_scale"


def global_token_scale(local_tokens):
    counts = [None] * dist.get_world_size()
    dist.all_gather_object(counts, local_tokens.item())
    return local_tokens.item() * len(counts) / max(sum(counts), 1)
