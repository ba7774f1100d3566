"""A bound on the time and memory of a piece of our own code. It raises where the bound is exceeded, in any thread."""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

WALL_CLOCK_FACTOR = 5.0
"""How many times its limit code may take by the clock, on a machine with other work."""


class TimeBoundError(BaseException):
    """The code took too long. Not an Exception, so that ``except Exception`` in that code does not swallow it."""


@contextlib.contextmanager
def bounded(seconds: float, more_bytes: int) -> Iterator[None]:
    """Bound the block in seconds of this thread's work, and in bytes that this process may take in addition.

    A single operation of a library is not interrupted; the exception comes when it is over. Memory is bounded on Linux only.

    Raises:
        TimeBoundError: it has taken too long.
        MemoryError, RuntimeError: Python or torch got no memory, as always when there is none.
    """
    with _memory_bound(more_bytes), _time_bound(seconds):
        yield


@contextlib.contextmanager
def _time_bound(seconds: float) -> Iterator[None]:
    watched, over, lock = threading.get_ident(), threading.Event(), threading.Lock()
    raised = threading.Event()
    end = time.monotonic() + WALL_CLOCK_FACTOR * seconds
    clock = time.pthread_getcpuclockid(watched) if hasattr(time, "pthread_getcpuclockid") else time.CLOCK_MONOTONIC
    began = time.clock_gettime(clock)

    def watch() -> None:
        left = seconds
        while not over.wait(left):
            with lock:
                if over.is_set():
                    return
                left = min(began + seconds - time.clock_gettime(clock), end - time.monotonic())
                if left <= 0:
                    raised.set()
                    _raise_in(watched, TimeBoundError)
                    return
            left = max(left, 0.01)

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()
        yield
    finally:
        with lock:  # or it might raise when this block is left
            over.set()
        if raised.is_set():
            _let_it_arrive()


def _let_it_arrive() -> None:
    """Run some lines of Python, so that an exception for this thread that is still under way is raised here.

    Taking it back instead would leave Python looking for it for ever, and forks of this process would do nothing else.
    """
    for _ in range(100):
        pass


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    """Raise an exception in a thread at its next line of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))


_MEMORY = threading.Lock()
_before: list[tuple[int, int]] = []
"""The limits of this process outside of all blocks, once for each block that is entered: other threads may be in one, too."""


@contextlib.contextmanager
def _memory_bound(more_bytes: int) -> Iterator[None]:
    try:
        import resource

        used = re.search(r"^VmData:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    except (ImportError, OSError):
        used = None
    if used is None:
        yield
        return
    with _MEMORY:
        soft, hard = _before[0] if _before else resource.getrlimit(resource.RLIMIT_DATA)
        _before.append((soft, hard))
        limits = [int(used[1]) * 1024 + more_bytes, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    finally:
        with _MEMORY:
            _before.pop()
            if not _before:
                resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
