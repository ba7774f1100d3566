"""A model's parameters and their gradients as vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters a loop may change, in the order of ``named_parameters``."""
    return [p for p in model.parameters() if p.requires_grad]


def flat_parameters(model: nn.Module) -> Tensor:
    """A copy of all trainable parameters as one vector of length P."""
    return flat_values(trainable(model))


def flat_gradient(model: nn.Module) -> Tensor:
    """A copy of ``.grad`` of all trainable parameters as one vector of length P; an absent gradient counts as zero."""
    return flat_gradients(trainable(model))


def flat_values(parameters: Sequence[nn.Parameter]) -> Tensor:
    """A copy of some parameters as one vector."""
    return torch.cat([p.detach().reshape(-1) for p in parameters])


def flat_gradients(parameters: Sequence[nn.Parameter]) -> Tensor:
    """A copy of the ``.grad`` of some parameters as one vector; an absent gradient counts as zero."""
    return torch.cat([torch.zeros_like(p).reshape(-1) if p.grad is None else p.grad.detach().reshape(-1) for p in parameters])
