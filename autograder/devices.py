"""Which device to mark on."""

from __future__ import annotations

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
