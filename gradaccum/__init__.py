"""The bench of the gradient-accumulation course: problems, loops, recordings, fingerprints and explorables.

``watch`` turns it on any trainer, see :mod:`gradaccum.watching`::

    with gradaccum.watch(model, accumulation_steps=4) as seen:
        trainer.train()
    seen.check()
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """``watch`` and ``loss_seen``, loaded when they are asked for: importing the bench costs nothing, and needs no torch."""
    if name in ("watch", "loss_seen"):
        return getattr(import_module("gradaccum.watching"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
