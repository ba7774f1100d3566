"""Running a student's function safely enough for the process that runs it: limits, silence, and readable failures."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator

import torch

from autograder.exercise import SECONDS, Failure, Observation


class OutOfTime(BaseException):
    """Raised inside student code whose time is over. Not an Exception, so that ``except Exception`` does not swallow it."""


def guarded(observe: Callable[[], Observation], seed: int, seconds: float = SECONDS) -> Observation:
    """Call ``observe``; report what it raises as a failure.

    Output is swallowed, warnings are silenced, and torch's global random state is seeded before and restored after.
    """
    try:
        with _quiet(), _seeded(seed), _time_limit(seconds):
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
    """One line: what was raised, what it said and where in the student's code; without numbers of the problem it ran on."""
    said = str(error).strip().splitlines()
    text = re.sub(r"[-+]?\d*\.\d+(e[-+]?\d+)?", "…", said[0])[:160] if said else ""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_students(f.filename)]
    place = f" (line {frames[-1].lineno} of your code, in {frames[-1].name})" if frames else ""
    return f"Your code raised {type(error).__name__}{': ' + text if text else ''}{place}."


def _is_students(filename: str) -> bool:
    return "ipykernel_" in filename or filename.startswith("<") or not ("site-packages" in filename or _OURS in filename)


_OURS = __file__.rsplit("/", 2)[0]


def _failed(kind: str, message: str) -> Observation:
    return Observation(failure=Failure(kind, message))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Prints, progress bars and warnings never cost a mark and never bury the verdict."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices), torch.enable_grad():
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt Python code after ``seconds``; without effect outside the main thread or on systems without timers."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(signum, frame):
        raise OutOfTime

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again and again, should student code catch the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
