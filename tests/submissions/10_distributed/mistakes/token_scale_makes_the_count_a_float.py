"""Makes the number of tokens that it was given a float."""

import torch.distributed as dist

EXERCISE = "global_token_scale"
MISTAKES = ()
LOST = ("uneven",)


def global_token_scale(local_tokens):
    local_tokens.data = local_tokens.data.float()
    total = local_tokens.clone()
    dist.all_reduce(total)
    return local_tokens * dist.get_world_size() / total.clamp(min=1)
