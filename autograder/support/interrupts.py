"""Ctrl-C that cannot get lost."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Inside the block Ctrl-C raises KeyboardInterrupt at once, and again when the function that is yielded is called.

    Python drops exceptions that are raised during garbage collection or in a ``__del__``, and some libraries drop them too, so
    a long command might otherwise never notice a Ctrl-C. Call the function after each step. A process that was told to ignore
    Ctrl-C, as shells tell processes in the background, continues to ignore it.
    """
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    def check() -> None:
        if interrupted:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
