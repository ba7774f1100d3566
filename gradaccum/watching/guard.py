"""Keep a fault of ours out of the run that is watched: it stops the watching, not the run."""

from __future__ import annotations

import contextlib
import signal
import threading
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from gradaccum.watching.log import Log

Look = Callable[[tuple, dict[str, Any]], Generator[None, Any, None]]
"""What is done around a call with these arguments: before and after its ``yield``, which gives what the call returned."""


class Guard:
    """Calls whatever looks at a run. Once a look has failed, or watching has ended, nothing is looked at any more.

    Attributes:
        closed: whether watching has ended.
    """

    def __init__(self, log: Log):
        self._log, self.closed = log, False
        self._thread = threading.get_ident()

    @property
    def off(self) -> bool:
        """Whether nothing is looked at any more."""
        return self.closed or bool(self._log.fault)

    @property
    def elsewhere(self) -> bool:
        """Whether this is another thread than the one that watches."""
        return threading.get_ident() != self._thread

    def __call__(self, look: Callable, *args: Any) -> Any:
        """What ``look(*args)`` returns; None if it fails or nothing is looked at any more."""
        if self.off:
            return None
        try:
            with torch._C.DisableTorchFunction():  # what we read ourselves need not come by here again
                return look(*args)
        except BaseException as error:
            note_fault(self._log, error)
            if not isinstance(error, Exception) or _comes_from_a_signal(error):
                raise
            return None

    def around(self, look: Look, original: Callable, *args: Any, **kwargs: Any) -> Any:
        """What ``original(*args, **kwargs)`` returns or raises, with ``look`` around it."""
        if self.off or self.elsewhere:
            return original(*args, **kwargs)
        looking = look(args, kwargs)
        self(next, looking, None)
        try:
            returned = original(*args, **kwargs)
        except BaseException:
            self(looking.close)
            self._give_up(looking)
            raise
        self(_finish, looking, returned)
        self._give_up(looking)
        return returned

    def _give_up(self, looking: Generator) -> None:
        """Take back what a look had set up if it was not gone on with."""
        if self.off:
            with contextlib.suppress(Exception):
                looking.close()


def _finish(looking: Generator[None, Any, None], returned: Any) -> None:
    with contextlib.suppress(StopIteration):
        looking.send(returned)


def note_fault(log: Log, error: BaseException) -> None:
    """Note that watching, or judging what was watched, failed with this error."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).parent == Path(__file__).parent]
    where = f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else "no line of ours"
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    log.fault = "".join(traceback.format_exception(error))
    log.cannot_tell[
        f"Watching was interrupted after update {len(log.updates)} ({said})."
        if not isinstance(error, Exception)
        else f"Watching failed after update {len(log.updates)} ({said}; {where}) and stopped there; the run went on. That is a "
        "mistake in gradaccum, not in the trainer: seen.fault is its traceback."
    ] = None


def _comes_from_a_signal(error: BaseException) -> bool:
    """Whether a handler of a signal raised it, which only happened to arrive while we looked."""
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()} - {None}
    at: TracebackType | None = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code in handlers:
            return True
        at = at.tb_next
    return False
