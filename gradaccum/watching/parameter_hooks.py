"""See what hooks on parameters do to gradients: look before the first of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from torch import Tensor

from gradaccum.watching import sketch
from gradaccum.watching.guard import Guard
from gradaccum.watching.held import Held
from gradaccum.watching.holdings import Holdings


@contextmanager
def seen_through(holdings: Holdings, backward: int, guard: Guard) -> Iterator[None]:
    """Inside the block, a backward runs: note each gradient before hooks change it, and ``.grad`` before they change that."""

    def arrives(held: Held, gradient: Tensor) -> None:
        dense = gradient.to_dense() if gradient.is_sparse else gradient
        now = sketch.read(dense, held.blocks)
        held.arriving = now if held.arriving is None else held.arriving + now

    def look(held: Held) -> Callable[[Tensor], None]:
        return lambda gradient: guard(arrives, held, gradient)

    def add(held: Held) -> Callable[[Tensor], None]:
        return lambda parameter: guard(holdings.add, held, backward)

    with ExitStack() as undo:
        for held in holdings.held.values():
            if held.parameter._backward_hooks:
                _put_first(held.parameter._backward_hooks, look(held), undo)
            if held.parameter._post_accumulate_grad_hooks:
                _put_first(held.parameter._post_accumulate_grad_hooks, add(held), undo)
        yield


_KEYS = itertools.count(-1, -1)
"""Keys of our hooks; torch's own count up from 0."""


def _put_first(hooks: dict[int, Callable], hook: Callable, undo: ExitStack) -> None:
    key, others = next(_KEYS), dict(hooks)
    undo.callback(hooks.pop, key, None)
    hooks.clear()
    hooks[key] = hook
    hooks.update(others)
