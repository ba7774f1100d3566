"""Which device to mark on, and in which precision it computes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

DEVICES = ("auto", "cpu", "cuda")


def pick_device(device: str = "auto") -> str:
    """``"cuda"`` or ``"cpu"``; for ``"auto"`` the GPU if there is one.

    Raises:
        ValueError: the name is unknown, or this machine has no such device.
    """
    if device not in DEVICES:
        raise ValueError(f"unknown device {device!r}; choose one of {', '.join(DEVICES)}")
    if device == "cpu":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        raise ValueError("device 'cuda' was asked for, but torch finds no CUDA device here; use --device cpu")
    return "cpu"


def likely_device() -> str:
    """What :func:`pick_device` will probably say, for those who cannot wait until torch is imported."""
    return "cuda" if any(Path("/dev").glob("nvidia[0-9]*")) else "cpu"


@contextlib.contextmanager
def full_precision() -> Iterator[None]:
    """Compute in the precision that tensors have and with the same kernels every time, whatever a student has set.

    By default torch lets a GPU convolve float32 in TensorFloat-32, which keeps 10 of 23 bits and is off by 1e-3: more than
    marking tolerates.
    """
    before: list[tuple[Callable[[Any], None], Any]] = []
    for get, put, _ in _settings():
        with contextlib.suppress(RuntimeError):  # torch refuses if its two ways to set this were mixed
            before.append((put, get()))
    for _, put, value in _settings():
        put(value)
    try:
        yield
    finally:
        for put, value in reversed(before):
            put(value)


_Setting: TypeAlias = tuple[Callable[[], Any], Callable[[Any], None], Any]


def _settings() -> tuple[_Setting, ...]:
    """How to get and set each of torch's settings, and the value for marking; settings for several operations come first."""
    import torch

    cudnn = torch.backends.cudnn

    def attribute(place: object, name: str, value: object) -> _Setting:
        return lambda: getattr(place, name), partial(setattr, place, name), value

    return (
        attribute(torch.backends, "fp32_precision", "ieee"),
        attribute(cudnn, "fp32_precision", "ieee"),
        attribute(cudnn, "allow_tf32", False),
        attribute(cudnn, "deterministic", True),
        attribute(cudnn, "benchmark", False),
        (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    )
