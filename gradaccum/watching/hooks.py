"""Ways into a run that can be left in any order: many watchers may be at work, and others may replace functions, too."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial, wraps
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.overrides import TorchFunctionMode, _len_torch_function_stack, _pop_mode, _push_mode

Around = Callable[..., Any]
"""Called as ``around(original, *args, **kwargs)`` in place of the original."""

_OURS: WeakKeyDictionary[Callable, list[Around]] = WeakKeyDictionary()
"""The functions put in place of others, and what is to be called around them: nothing if nobody watches any more."""


@contextmanager
def replaced(owner: Any, name: str, around: Around) -> Iterator[None]:
    """Have calls of a function go through ``around`` inside the block.

    A function that somebody else has replaced in the meantime is not put back: ours stays under theirs and only passes on.
    """
    ours = getattr(owner, name)
    if ours not in _OURS:
        ours = _in_place_of(ours)
        setattr(owner, name, ours)
    arounds = _OURS[ours]
    arounds.append(around)
    try:
        yield
    finally:
        arounds.remove(around)
        if not arounds and getattr(owner, name) is ours:
            setattr(owner, name, ours.__wrapped__)


def _in_place_of(original: Callable) -> Any:
    arounds: list[Around] = []

    @wraps(original)
    def calls(*args: Any, **kwargs: Any) -> Any:
        call = original
        if not torch.compiler.is_compiling():  # what is compiled must not depend on who watches
            for around in tuple(arounds):
                call = partial(around, call)
        return call(*args, **kwargs)

    _OURS[calls] = arounds
    return calls


def replaced_function(function: Callable, around: Around) -> AbstractContextManager[None]:
    """The same for a function that callers find under its name in its module."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    name = getattr(function, "__name__", "")
    if module in (None, builtins) or getattr(module, name, None) is not function:
        raise ValueError(f"watch(loss={name or function!r}): give a torch.nn.Module, or a function its module holds by name")
    return replaced(module, name, around)


@contextmanager
def active_mode(mode: TorchFunctionMode) -> Iterator[None]:
    """Have torch's functions go through a mode inside the block; other modes may be entered in it and left after it."""
    mode.__enter__()
    try:
        yield
    finally:
        above: list[Any] = []
        while _len_torch_function_stack():
            top: Any = _pop_mode()
            if top is mode:
                break
            above.append(top)
        for one in reversed(above):
            _push_mode(one)


class ModuleHook:
    """A hook on a module, which does nothing on a copy of it: trainers copy and pickle models while they run."""

    def __init__(self, look: Callable[..., None]):
        self._look = look

    def __call__(self, *given: Any) -> None:
        if not torch.compiler.is_compiling():  # what is compiled must not depend on who watches
            self._look(*given)

    def __reduce__(self) -> tuple:
        return ModuleHook, (_ignore,)


def _ignore(*given: Any) -> None:
    pass
