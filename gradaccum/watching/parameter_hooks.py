"""See what hooks on parameters do to gradients: look before the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from torch import Tensor

from gradaccum.watching import sketch
from gradaccum.watching.holdings import Held, Holdings


@contextmanager
def seen_through(held: Iterable[Held], holdings: Holdings, backward: int) -> Iterator[None]:
    """Inside the block, a backward runs: note each gradient before hooks change it, and ``.grad`` before they change that."""
    undo = []
    for one in held:
        if one.parameter._backward_hooks:
            undo.append(_put_first(one.parameter, "_backward_hooks", _looks_at(one)))
        if one.parameter._post_accumulate_grad_hooks:
            undo.append(_put_first(one.parameter, "_post_accumulate_grad_hooks", _adds(one, holdings, backward)))
    try:
        yield
    finally:
        for hooks, key in undo:
            hooks.pop(key, None)


_MINE = -1
"""The key of our hook; torch's own count up from 0."""


def _put_first(parameter: Tensor, name: str, hook: object) -> tuple[dict, int]:
    hooks = getattr(parameter, name)
    others = dict(hooks)
    hooks.clear()
    hooks[_MINE] = hook
    hooks.update(others)
    return hooks, _MINE


def _looks_at(held: Held) -> Callable[[Tensor], None]:
    def look(gradient: Tensor) -> None:
        dense = gradient.to_dense() if gradient.is_sparse else gradient
        now = sketch.read(dense, held.blocks)
        held.arriving = now if held.arriving is None else held.arriving + now

    return look


def _adds(held: Held, holdings: Holdings, backward: int) -> Callable[[Tensor], None]:
    def add(parameter: Tensor) -> None:
        holdings.add(held, backward)

    return add
