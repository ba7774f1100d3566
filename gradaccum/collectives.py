"""Count what ``torch.distributed`` is asked to carry from rank to rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

NAMESPACES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
ALL_REDUCE = "all-reduce"


@dataclass(frozen=True)
class Call:
    """One collective call: ``"all-reduce"`` or torch's name for another kind, and the bytes this rank puts in."""

    kind: str
    bytes: int


class Collectives(TorchDispatchMode):
    """Counts the collective calls that this thread makes inside the block, those of DistributedDataParallel included.

    Attributes:
        calls: one for each collective call, in order.
    """

    def __init__(self, on_call: Callable[[Call], None] = lambda call: None):
        super().__init__()
        self.calls: list[Call] = []
        self.on_call = on_call

    @property
    def all_reduces(self) -> list[Call]:
        return [call for call in self.calls if call.kind == ALL_REDUCE]

    def __torch_dispatch__(
        self,
        function: OpOverload,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        if function.namespace in NAMESPACES and (carried := list(_tensors(_contributed(function, args)))):
            name = function._schema.name.split("::")[1].strip("_")
            kind = ALL_REDUCE if name.replace("_", "").startswith("allreduce") else name
            self.calls.append(Call(kind, sum(tensor.numel() * tensor.element_size() for tensor in carried)))
            self.on_call(self.calls[-1])
        return function(*args, **(kwargs or {}))


def _contributed(function: OpOverload, args: tuple[Any, ...]) -> object:
    """The argument with this rank's contribution: the one called input, or the first, which is then overwritten."""
    names = [argument.name for argument in function._schema.arguments[: len(args)]]
    return next((value for name, value in zip(names, args, strict=True) if name.startswith("input")), args[:1])


def _tensors(value: object) -> Iterator[Tensor]:
    """The tensors of a list of lists."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
