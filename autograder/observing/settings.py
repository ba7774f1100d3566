"""Settings of torch that a function must leave as it found them: what runs later would compute otherwise, or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch.nn.modules import module

_top_hooks = torch._C._autograd._top_saved_tensors_default_hooks
_pop_hooks = torch._C._autograd._pop_saved_tensors_default_hooks

_GLOBAL_HOOKS = (
    module._global_forward_hooks,
    module._global_forward_pre_hooks,
    module._global_backward_hooks,
    module._global_backward_pre_hooks,
)


def _put_hooks_back(before: list[dict[int, Callable]]) -> None:
    for hooks, had in zip(_GLOBAL_HOOKS, before, strict=True):
        hooks.clear()
        hooks.update(had)


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
    "autocast's dtype on the CPU": (partial(torch.get_autocast_dtype, "cpu"), partial(torch.set_autocast_dtype, "cpu")),
    "autocast's dtype on the GPU": (partial(torch.get_autocast_dtype, "cuda"), partial(torch.set_autocast_dtype, "cuda")),
    "the number of torch's threads": (torch.get_num_threads, torch.set_num_threads),
    "the precision of torch's matrix products": (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "cuDNN's benchmarking": (torch._C._get_cudnn_benchmark, torch._C._set_cudnn_benchmark),
    "cuDNN's deterministic mode": (torch._C._get_cudnn_deterministic, torch._C._set_cudnn_deterministic),
    "torch's hooks on all modules": (lambda: [dict(hooks) for hooks in _GLOBAL_HOOKS], _put_hooks_back),
}
"""Of this thread or of the process, in words that follow "leaves"."""

LEFT_CHANGED = "Your function leaves {} changed, which can affect what runs later. Put it back."
"""What it leaves changed is one of :data:`SETTINGS`."""


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
