"""Gradients that are averaged over ranks: by DistributedDataParallel, or by hand with ``all_reduce``."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from gradaccum.watching.held import Held
from gradaccum.watching.holdings import Holdings
from gradaccum.watching.log import Log


class Averaging:
    """Notes which backwards have reached all ranks."""

    def __init__(self, log: Log, holdings: Holdings):
        self._log, self._holdings = log, holdings
        self._prepared: list[nn.parallel.DistributedDataParallel] = []

    def look_at_ranks(self) -> None:
        """Note how many ranks there are, and how they find each other, once there are several."""
        if dist.is_available() and dist.is_initialized():
            self._log.world, self._log.rank = dist.get_world_size(), dist.get_rank()
            self._log.store = dist.distributed_c10d._get_default_store()

    def around_forward(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """A forward of DistributedDataParallel: it is this that decides whether the next backward averages."""
        self.look_at_ranks()
        module = args[0]
        prepares = torch.is_grad_enabled() and module.require_backward_grad_sync
        yield
        if prepares and all(module is not one for one in self._prepared):
            self._prepared.append(module)

    def after_backward(self, backward: int) -> None:
        """A backward is over: those that it came from and that had prepared for it have averaged ``.grad``."""
        for module in self._prepared[:]:
            touched = [held for held in self._watched(module) if backward in held.touched]
            if touched:
                self._prepared.remove(module)
                self._log.ranks = dist.get_world_size(module.process_group)
                self._holdings.averaged(touched, 1 / self._log.ranks)

    def _watched(self, module: nn.Module) -> list[Held]:
        return [self._holdings.held[id(p)] for p in module.parameters() if id(p) in self._holdings.held]

    def around_all_reduce(self, args: tuple, kwargs: dict[str, Any]) -> Generator[None, Any, None]:
        """Something is added up over ranks; it may be the ``.grad`` of a watched parameter."""
        self.look_at_ranks()
        given = dict(zip(("tensor", "op", "group", "async_op"), args, strict=False)) | kwargs
        op, of = given.get("op", dist.ReduceOp.SUM), self._holder(given.get("tensor"))
        if of is None or given.get("async_op") or op not in (dist.ReduceOp.SUM, dist.ReduceOp.AVG):
            yield
            return
        self._holdings.look([of])
        yield
        self._log.ranks = dist.get_world_size(given.get("group"))
        self._holdings.averaged([of], 1 / self._log.ranks if op == dist.ReduceOp.AVG else 1.0)

    def _holder(self, tensor: object) -> Held | None:
        """The parameter whose ``.grad`` this tensor is."""
        if not isinstance(tensor, Tensor) or not tensor.numel():
            return None
        place = (tensor.data_ptr(), tensor.numel())
        for held in self._holdings.held.values():
            gradient = held.parameter.grad
            if gradient is not None and (gradient.data_ptr(), gradient.numel()) == place:
                return held
        return None
