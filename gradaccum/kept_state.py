"""What training must leave as it is, or changes only in updates: the state of a model, an optimizer and data."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten


def optimizer_values(optimizer: torch.optim.Optimizer) -> list[Tensor | None]:
    """The tensors that an optimizer keeps from update to update, such as its momentum."""
    kept = (value for state in optimizer.state.values() for value in state.values())
    return [value.detach() if isinstance(value, Tensor) else None for value in kept]


def same_values(found: list[Tensor | None], due: list[Tensor | None]) -> bool:
    """Whether these are the same numbers; NaN is the same as NaN."""

    def same(a: Tensor | None, b: Tensor | None) -> bool:
        if a is None or b is None or a.shape != b.shape:
            return a is b
        return bool(((a == b) | (a.isnan() & b.isnan())).all())

    return len(found) == len(due) and all(map(same, found, due))


def state_of(model: nn.Module, frozen: Sequence[str] = ()) -> dict[str, list]:
    """What training must leave as it is; ``frozen`` are the names of the parameters that were frozen when it began."""
    held, named = [*model.parameters(), *model.buffers()], dict(model.named_parameters())
    return {
        "modes": [module.training for module in model.modules()],
        "dtypes": [tensor.dtype for tensor in held],
        "requires_grad": [tensor.requires_grad for tensor in held],
        "frozen": [named[name].detach().cpu().tolist() for name in frozen if name in named],
    }


def same_data(found: object, due: object) -> bool:
    """Whether nested tuples and lists of tensors are the same ones."""
    (tensors, form), (others, other_form) = tree_flatten(found), tree_flatten(due)
    pairs = zip(tensors, others, strict=True) if form == other_form else ()
    return form == other_form and all(
        a.dtype == b.dtype and torch.equal(a, b) and a.requires_grad == b.requires_grad for a, b in pairs
    )
