"""Ctrl-C that cannot get lost."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """While this lasts Ctrl-C raises KeyboardInterrupt at once, and again when what is yielded is called.

    Python drops exceptions that are raised while it collects garbage or runs a ``__del__``, so a long command that parses large
    files may otherwise never hear of a Ctrl-C. Call what is yielded after each step.
    """
    interrupted = False

    def interrupt(number, frame):
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    def check() -> None:
        if interrupted:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
