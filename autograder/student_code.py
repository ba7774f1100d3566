"""Running a student's function safely enough for the process that runs it: limits, silence, and readable failures."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import signal
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import CodeType

import torch

from autograder.exercise import SECONDS, Failure, Observation


class OutOfTime(BaseException):
    """Raised inside student code whose time is over. Not an Exception, so that ``except Exception`` does not swallow it."""


def guarded(observe: Callable[[], Observation], seed: int, seconds: float = SECONDS) -> Observation:
    """Call ``observe``; report what it raises as a failure.

    Output is swallowed, warnings are silenced, and global random states are seeded before and restored after.
    """
    try:
        with quiet(), seeded(seed), time_limit(seconds):
            return observe()
    except OutOfTime:
        return _failed("time", f"Your code was still running after {seconds:g} seconds. Does one of its loops never end?")
    except NotImplementedError:
        return _failed("unwritten", "Not written yet.")
    except KeyboardInterrupt:
        raise
    except SystemExit:
        return _failed("raised", "Your code tried to end the program (SystemExit).")
    except BaseException as error:
        return _failed("raised", describe_error(error))


def describe_error(error: BaseException) -> str:
    """One line: what was raised, what it said and where in the student's code; without numbers of the problem it ran on.

    Lines are counted from the ``def`` of the function they are in, which is the same in a notebook and in a file.
    """
    text = re.sub(r"[-+]?\d*\.\d+(e[-+]?\d+)?", "…", _first_line(error))[:160]
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_students(frame.f_code)]
    named = [(code, line) for code, line in frames if not code.co_name.startswith("<")]  # not of <lambda> or <listcomp>
    place = f" (line {named[-1][1] - named[-1][0].co_firstlineno + 1} of {named[-1][0].co_name})" if named else ""
    return f"Your code raised {type(error).__name__}{': ' + text if text else ''}{place}."


def _first_line(error: BaseException) -> str:
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # a student's own exception may not know how to say what it is
        lines = []
    return lines[0] if lines else ""


def _is_students(code: CodeType) -> bool:
    name = code.co_filename
    return not (name.startswith(_NOT_STUDENTS) or "site-packages" in name or "dist-packages" in name)


_NOT_STUDENTS = (
    *("<frozen", "<string"),
    *(os.path.join(sysconfig.get_path("stdlib"), ""), os.path.join(os.path.dirname(__file__), "")),
    os.path.join(os.path.dirname(os.path.dirname(__file__)), "gradaccum", ""),
)
"""How names of code begin that is Python's own or ours."""


def _failed(kind: str, message: str) -> Observation:
    return Observation(failure=Failure(kind, message))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Swallow output and warnings. Prints, progress bars and warnings never cost a mark and never bury the verdict."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global random states of torch, Python and, if it is in use, numpy; put them back afterwards."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    numpy = sys.modules.get("numpy")
    python_state, numpy_state = random.getstate(), numpy.random.get_state() if numpy else None
    with torch.random.fork_rng(devices=devices), torch.enable_grad():
        torch.manual_seed(seed)
        random.seed(seed)
        if numpy:
            numpy.random.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(python_state)
            if numpy:
                numpy.random.set_state(numpy_state)


PATIENCE = 3.0
"""How much longer than its limit code may take by the clock, if it only waits: for a busy machine, or in a sleep."""


def stopwatch() -> Callable[[], float]:
    """Starts to count; what it returns says how many seconds this thread has used by now.

    Seconds of work count in full and seconds of waiting a third, so that other people's work on the same machine costs nobody
    a mark, and sleeping for ever is noticed all the same.
    """
    clock, work = time.monotonic(), time.thread_time()
    return lambda: max(time.thread_time() - work, (time.monotonic() - clock) / PATIENCE)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`OutOfTime` in Python code that uses more than ``seconds``, see :func:`stopwatch`.

    A limit inside another one, ours or that of a test runner, leaves the outer one in force. Without effect outside the main
    thread or on systems without timers.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    used, began = stopwatch(), time.monotonic()

    def interrupt(signum, frame):
        if used() >= seconds:
            raise OutOfTime

    previous = signal.signal(signal.SIGALRM, interrupt)
    # Again and again: it may be too early, and the exception may be caught.
    outer, repeat = signal.setitimer(signal.ITIMER_REAL, seconds, min(0.5, seconds / 4))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - began)), repeat)
