"""The public path of :func:`pick_device`, which notebooks import."""

from autograder.contract.devices import pick_device

__all__ = ["pick_device"]
