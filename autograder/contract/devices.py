"""Which device to mark on, and how it is to compute."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

DEVICES = ("auto", "cpu", "cuda")


def pick_device(device: str = "auto") -> str:
    """``"cuda"`` or ``"cpu"``. ``"auto"`` takes the GPU if there is one.

    Raises:
        ValueError: the name is unknown, or there is no such device.
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


@contextlib.contextmanager
def full_precision() -> Iterator[None]:
    """Compute in the precision that tensors have, by the same kernels every time, whatever a student has set.

    Torch's own default lets a GPU convolve float32 in TensorFloat-32, which has 10 bits of 23 and is off by 1e-3: more than
    marking tolerates.
    """
    before: list[tuple[Callable, Any]] = []
    for get, put, _ in _settings():
        with contextlib.suppress(RuntimeError):  # torch refuses to say where two of its ways to set this were mixed
            before.append((put, get()))
    for _, put, value in _settings():
        put(value)
    try:
        yield
    finally:
        for put, value in reversed(before):
            put(value)


def _settings() -> tuple[tuple[Callable[[], Any], Callable[[Any], None], Any], ...]:
    """How to read and to set each of torch's settings, and what marking sets; those for several kinds of operations first."""
    import torch

    cudnn = torch.backends.cudnn

    def attribute(place: object, name: str, value: object):
        return lambda: getattr(place, name), partial(setattr, place, name), value

    return (
        attribute(torch.backends, "fp32_precision", "ieee"),
        attribute(cudnn, "fp32_precision", "ieee"),
        attribute(cudnn, "allow_tf32", False),
        attribute(cudnn, "deterministic", True),
        attribute(cudnn, "benchmark", False),
        (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    )
