"""What training keeps in memory, and how many bytes that is, on any device."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def saved_tensors(run: Callable[[], T]) -> tuple[T, list[Tensor]]:
    """What ``run()`` returned, and every tensor that autograd kept for the backward pass meanwhile, in order, with repeats.

    The same storage may come several times, as itself or as a view; parameters and inputs are among them. See
    ``torch.autograd.graph.saved_tensors_hooks``.
    """
    kept: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor)
        return tensor.detach()  # the graph holds on to this and to ``pack``; a result with its graph would never be freed

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = run()
    found = kept.copy()
    kept.clear()
    return result, found


def storage_key(tensor: Tensor) -> int:
    """The same for tensors that share their memory, as long as one of them is alive."""
    return tensor.untyped_storage()._cdata


def bytes_held(tensors: Iterable[Tensor], without: Iterable[Tensor] = ()) -> int:
    """Bytes of the storages of ``tensors``, each storage once; those that also hold a tensor of ``without`` do not count."""
    excluded = {storage_key(tensor) for tensor in without}
    held = {storage_key(tensor): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(size for key, size in held.items() if key not in excluded)
