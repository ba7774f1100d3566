"""Leaves every rank its weight."""

import torch

EXERCISE = "global_token_scale"
MISTAKES = ("local-tokens-only",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    return torch.ones(())
