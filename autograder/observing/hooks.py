"""Hooks and attributes of a model, which a function must not leave behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

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


class Attached(NamedTuple):
    """What is attached to a model, its layers and its parameters.

    Attributes:
        hooks, attributes: how many.
        settings: for each layer, attributes that are plain values, such as the probability of a dropout; not the mode.
    """

    hooks: int
    attributes: int
    settings: list[dict[str, object]]


def attached(model: nn.Module) -> Attached:
    """What is attached to a model now."""

    def is_setting(name: str, value: object) -> bool:
        return isinstance(value, bool | int | float | str) and name != "training" and not name.startswith("_")

    settings = [{name: value for name, value in vars(layer).items() if is_setting(name, value)} for layer in model.modules()]
    things = [*model.modules(), *model.parameters()]
    return Attached(count_hooks(model), sum(len(vars(thing)) for thing in things), settings)


def left_attached(before: Attached, after: Attached) -> list[str]:
    """Of ``"hooks"`` and ``"attributes"``, what is there that was not, or is no longer what it was."""
    attributes = after.attributes > before.attributes or after.settings != before.settings
    return ["hooks"] * (after.hooks > before.hooks) + ["attributes"] * attributes
