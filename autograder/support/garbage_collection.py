"""Python's search for garbage, put off while large packages are imported: nothing of what they make is garbage."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Nothing is collected inside the block; what is there at its end is never looked through again.

    An import of torch makes so many objects that looking through them, again and again, takes a fifth of its time; after it,
    0.1 s whenever Python collects, be it in a check.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
