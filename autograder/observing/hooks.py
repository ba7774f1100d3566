"""Count the hooks of a model, which a function must not leave behind."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn

HOOKS = (
    *("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"),
    "_post_accumulate_grad_hooks",
)
"""Where torch keeps the hooks of a module or of a tensor."""


def count_hooks(*models: nn.Module, tensors: Iterable[Tensor] = ()) -> int:
    """How many hooks there are on models, their parts and their parameters, and on other tensors."""
    things = [*tensors, *(thing for model in models for thing in (*model.modules(), *model.parameters()))]
    return sum(len(getattr(thing, name, None) or ()) for thing in things for name in HOOKS)
