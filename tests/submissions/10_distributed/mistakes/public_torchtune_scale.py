"""Divides by the tokens of all ranks and leaves DDP's average as it is."""

import torch.distributed as dist

STYLE = "a fine-tuning library before its repair (torchtune)"
REPORT = "the average over ranks is not undone, so that gradients are too small by the number of ranks"
SOURCE = "https://github.com/meta-pytorch/torchtune/pull/2172"
PREDICTED = ("world-size-missing",)
EXERCISE = "global_token_scale"
MISTAKES = ("world-size-missing",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    num_tokens = local_tokens.detach().clone()
    dist.all_reduce(num_tokens)
    return local_tokens * (1 / num_tokens)
