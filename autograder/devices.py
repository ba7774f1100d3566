"""Which device to mark on."""

from __future__ import annotations

import torch

DEVICES = ("auto", "cpu", "cuda")


def pick_device(device: str = "auto") -> str:
    """``"cuda"`` or ``"cpu"``. ``"auto"`` takes the GPU if there is one.

    Raises:
        ValueError: the name is unknown, or there is no such device.
    """
    if device not in DEVICES:
        raise ValueError(f"unknown device {device!r}; choose one of {', '.join(DEVICES)}")
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device 'cuda' was asked for, but torch finds no CUDA device here; use --device cpu")
    return device
