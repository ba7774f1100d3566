"""Gathers the counts of all ranks, divides by their sum and undoes DDP's average."""

import torch
import torch.distributed as dist

STYLE = "a token-counting trainer after its second repair (Transformers)"
REPORT = "the number of tokens is gathered over ranks, and the loss is multiplied by their number"
SOURCE = "https://github.com/huggingface/transformers/pull/34373"
EXERCISE = "global_token_scale"


def gather(value):
    values = [torch.empty_like(value) for _ in range(dist.get_world_size())]
    dist.all_gather(values, value)
    return torch.stack(values)


def global_token_scale(local_tokens):
    num_items_in_batch = gather(local_tokens).sum()
    loss = local_tokens / num_items_in_batch.clamp(min=1)
    loss *= dist.get_world_size()
    return loss
