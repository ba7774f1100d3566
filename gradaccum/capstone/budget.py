"""The activation budget, measured."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gradaccum.capstone.config import Config
from gradaccum.capstone.model import token_loss
from gradaccum.recording import LiveBytes

COPIES = 2
"""How many more times the weights a run may hold: own buffers for gradients, or a copy of the weights."""


def activation_bytes(model: nn.Module, x: Tensor, y: Tensor) -> int:
    """The most bytes that are alive at once during one forward and backward pass on a micro-batch, beyond the weights.

    Activations are nearly all of it; the gradients it makes are in it, too. The same on every run; ``.grad`` is left alone.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    with torch.enable_grad(), LiveBytes() as live:
        torch.autograd.grad(token_loss(model(x), y), parameters)
    return live.peak


def ceiling(config: Config) -> int:
    """Bytes that a whole run may have alive at once: its budget, weights, gradients, optimizer state, and a little to spare."""
    weights = sum(p.nbytes for p in config.build_model().parameters())
    state = {"adamw": 2, "sgd": 1}[config.optimizer]
    return config.budget + (2 + state + COPIES) * weights
