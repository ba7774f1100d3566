"""Settings of torch that a function must leave as it found them: what runs later would compute otherwise, or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

_top_hooks = torch._C._autograd._top_saved_tensors_default_hooks
_pop_hooks = torch._C._autograd._pop_saved_tensors_default_hooks

_Setting = tuple[Callable[[], Any], Callable[[Any], object]]
"""A function that gets a setting, and one that puts it back."""

SETTINGS: dict[str, _Setting] = {
    "torch's grad mode": (torch.is_grad_enabled, torch.set_grad_enabled),
    "the default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "the default device": (torch.get_default_device, lambda _: torch.set_default_device(None)),
    "torch's hooks on saved tensors": (lambda: _top_hooks(False), lambda _: _pop_hooks()),
    "torch's anomaly detection": (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    "torch's deterministic mode": (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    "autocast on the CPU": (partial(torch.is_autocast_enabled, "cpu"), partial(torch.set_autocast_enabled, "cpu")),
    "autocast on the GPU": (partial(torch.is_autocast_enabled, "cuda"), partial(torch.set_autocast_enabled, "cuda")),
}
"""Of this thread or of the process, in words that follow "leaves"."""


@contextlib.contextmanager
def settings_put_back() -> Iterator[list[str]]:
    """Put settings back after the block; the list then says which of them it had changed."""
    before = {name: get() for name, (get, _) in SETTINGS.items()}
    changed: list[str] = []
    try:
        yield changed
    finally:
        for name, (get, put) in SETTINGS.items():
            if get() != before[name]:
                changed.append(name)
                put(before[name])
