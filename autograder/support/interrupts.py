"""Ctrl-C that cannot get lost."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """While this lasts Ctrl-C raises KeyboardInterrupt at once, and again when what is yielded is called.

    Python drops exceptions that are raised while it collects garbage or runs a ``__del__``, and libraries drop some, so a long
    command may otherwise never hear of a Ctrl-C. Call what is yielded after each step. A process that was told to ignore it,
    as shells tell those in the background, goes on ignoring it.
    """
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
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
