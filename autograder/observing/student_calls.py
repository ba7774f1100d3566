"""Run a student's function within limits, in silence, and with readable failures."""

from __future__ import annotations

import contextlib
import dis
import itertools
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Protocol

import torch

import autograder
import gradaccum
from autograder.contract.observation import FAULT, TRIAL_SECONDS, Failure, Observation
from autograder.observing import traces
from autograder.observing.settings import LEFT_CHANGED, settings_put_back
from autograder.support.one_line import one_line

if TYPE_CHECKING:
    from _typeshed import TraceFunction

MAX_NUMBERS = 6
"""How many small numbers an error message may keep, such as those of two shapes."""


CHANGED = "changed"
"""The kind of a failure to leave something as it was."""


class TimeLimitExceeded(BaseException):
    """Raised inside student code whose time is up. Not an Exception, so that ``except Exception`` does not swallow it."""


def guarded(observe: Callable[[], Observation], seconds: float = TRIAL_SECONDS, seed: int = 0) -> Observation:
    """Call ``observe`` and return what it does; if it raises, return an observation with that failure.

    Output and warnings are suppressed; global random states are seeded before the call and restored after it. Settings of torch
    are put back, too. What a function left changed, or attached to what it was given, is the observation's trace.
    """
    traces.notes()  # what is still there is of a run that did not end
    try:
        with silenced(), seeded(seed), time_limit(seconds):
            try:
                with settings_put_back() as changed:
                    seen = observe()
                left = [*map(LEFT_CHANGED.format, changed), *traces.notes()]
                return replace(seen, trace=left[0]) if left and not seen.trace else seen
            except (TimeLimitExceeded, SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # described here, because its message, too, is made by student code
                return Observation(failure=failure_of(error))
    except TimeLimitExceeded:
        message = (
            f"Your code was still running after {seconds:g} seconds. Does a loop never end, or does it do far more than needed?"
        )
        return Observation(failure=Failure("time", message))
    except SystemExit:
        return Observation(failure=Failure("raised", "Your code tried to end the program (SystemExit)."))
    except KeyboardInterrupt as error:
        if not raised_by_statement(error):
            raise  # it came from the keyboard
        return Observation(failure=failure_of(error))


def failure_of(error: BaseException) -> Failure:
    """Why a run has no result: the function is not written yet, it raised this error, or we did, who observe it.

    Only a ``raise NotImplementedError`` of the student's means "not written yet"; torch also raises it for what it cannot do.
    If it is in another function, which the student's calls, that one is named.
    """
    if isinstance(error, NotImplementedError) and (code := raised_by_statement(error)):
        codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__) if _is_students(frame.f_code)]
        if next((one for one in codes if not one.co_name.startswith("<")), code) is not code:
            return Failure("raised", f"Your code calls {_without_data(code.co_name)[:40]}, which is not written.")
        return Failure("unwritten", "Not written yet.")
    if place := _our_fault(error):
        return Failure(FAULT, f"{type_name(error)} in {place}")
    return Failure("raised", describe_error(error))


OUR_ERRORS = (AssertionError, ImportError, NameError)
"""What our own code raises only if something is wrong with it. Other errors there may come from what a function returned."""


def _our_fault(error: BaseException) -> str:
    """The places in our code, innermost first, that raised an error while no student code was running; empty otherwise."""
    frames = traceback.extract_tb(error.__traceback__)
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not isinstance(error, OUR_ERRORS) or any(map(_is_students, codes)) or not codes[-1].co_filename.startswith(_OURS):
        return ""
    return ", called in ".join(f"{os.path.basename(frame.filename)}, line {frame.lineno}" for frame in reversed(frames))


def describe_error(error: BaseException) -> str:
    """One line: what was raised, with what message and where in the student's code; without numbers of the hidden problem.

    Lines are counted from the ``def`` of the function they are in, which is the same in a notebook and in a file.
    """
    text, statement = _first_line(error), raised_by_statement(error)
    # The message of a student's own statement may be made of the problem's numbers, unless it is a literal in the code.
    said = ": " + _without_data(text)[:160].removesuffix(".") if text and (not statement or text in statement.co_consts) else ""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_students(frame.f_code)]
    named = [(code, line) for code, line in frames if not code.co_name.startswith("<")]  # not <lambda> or <listcomp>
    place = ""
    if named:
        code, line = named[-1]
        place = f" (line {line - code.co_firstlineno + 1} of {_without_data(code.co_name)[:40]})"
    raised = f"{_without_data(type_name(error))[:40]}{said}"
    # What a function has left behind may be what makes other code fail: an optimizer, say, or a run of the course.
    return f"Your code raised {raised}{place}." if frames else f"Your code made other code raise {raised}."


def raised_by_statement(error: BaseException) -> CodeType | None:
    """The student's code whose own ``raise`` or ``assert`` raised an error; None if Python or a library did."""
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    if not last or not _is_students(last.tb_frame.f_code):
        return None
    code = last.tb_frame.f_code
    return code if code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"] else None


def type_name(value: object) -> str:
    """The name of a value's type, whatever its metaclass says."""
    return type.__dict__["__name__"].__get__(type(value))


def _first_line(error: BaseException) -> str:
    try:
        lines = str(error).strip().splitlines()
    except TimeLimitExceeded:
        raise
    except BaseException:  # a student's own exception may fail to make its message
        lines = []
    return one_line(lines[0]).strip() if lines else ""  # torch prints some words in bold


def _without_data(text: str) -> str:
    """A message without folders, decimals, long or many numbers, long quotations; a number left counts arguments or sizes."""
    text = re.sub(r"(?<![\w.])(?:/[^/\s'\"]+)+/", "…/", text)
    text = re.sub(r"[-+]?(\d+\.\d*|\.\d+)(e[-+]?\d+)?|[-+]?\d{3,}", "…", text)
    # A quotation does not begin inside a word, as the apostrophe of "doesn't" would; but b'…' is one. The text between two
    # quotations is not one: "'<' not supported between instances of 'int' and 'str'".
    text = re.sub(r"(?<!\w\w)(['\"])((?:(?!\1).)*)(?:\1|$)", lambda q: f"{q[1]}…{q[1]}" if len(q[2]) > 30 else q[0], text)
    return text if len(re.findall(r"\d+", text)) <= MAX_NUMBERS else re.sub(r"\d+", "…", text)


def _is_students(code: CodeType) -> bool:
    name = code.co_filename
    return not (name.startswith(_NOT_STUDENTS) or "site-packages" in name or "dist-packages" in name)


_OURS = tuple(os.path.join(place, "") for place in (*autograder.__path__, *gradaccum.__path__))
_NOT_STUDENTS = ("<frozen", "<string", os.path.join(sysconfig.get_path("stdlib"), ""), *_OURS)
"""How the file names of code begin that is Python's own or ours."""


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Suppress output and warnings. Prints, progress bars and warnings never cost a mark and never bury the verdict."""
    with (
        open(os.devnull, "w") as nowhere,  # a buffer in memory could grow as fast as a loop prints
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global random states of torch, Python and, if it is in use, numpy; put them back afterwards."""
    # The order matters: asking whether there is a GPU, in a process that will be forked, costs its forks the use of it.
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() and torch.cuda.is_available() else []
    numpy = sys.modules.get("numpy")
    python_state, numpy_state = random.getstate(), numpy.random.get_state() if numpy else None
    with torch.random.fork_rng(devices=devices), torch.enable_grad():
        # manual_seed keeps a picture of the stack for each kind of accelerator, which takes longer than many a student's code.
        without_accelerators = torch.accelerator.current_accelerator() is None  # in this build of torch
        (torch.default_generator if without_accelerators else torch).manual_seed(seed)
        random.seed(seed)
        if numpy:
            numpy.random.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(python_state)
            if numpy:
                numpy.random.set_state(numpy_state)


WALL_CLOCK_FACTOR = 3.0
"""How many times its limit code may take by the clock, if it only waits: for a busy machine, or in a sleep."""


def stopwatch() -> Callable[[], float]:
    """Start counting; the function returned says how many seconds this thread has used so far.

    Seconds of work count in full and seconds of waiting as a third, so that other work on the same machine costs no mark, and
    sleeping for ever is noticed all the same.
    """
    clock, work = time.monotonic(), time.thread_time()
    return lambda: max(time.thread_time() - work, (time.monotonic() - clock) / WALL_CLOCK_FACTOR)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeLimitExceeded` in Python code that uses more than ``seconds``, as :func:`stopwatch` counts them.

    Importing a library does not count and is not interrupted: it would be half imported for as long as the process lives, and
    the first optimizer, for example, imports much of torch. A limit inside another one, ours or that of a test runner, leaves
    the outer one in force. Has no effect outside the main thread or on systems without timers.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    used, began = stopwatch(), time.monotonic()
    tracer, here, caller = sys.gettrace(), sys._getframe(), sys._getframe(2)
    anywhere = itertools.cycle((True, False))
    tick = min(0.5, seconds / 4)
    last = importing = 0.0

    def interrupt(signum: int, frame: FrameType | None) -> None:
        nonlocal last, importing
        frames, now = _frames(frame, caller), used()
        importing, last = importing + (now - last) * _imports_a_library(frames), now
        if now - importing >= seconds and here not in frames:  # in which case the limit is just being lifted
            _raise_again_when_caught([frame for frame in frames if _is_students(frame.f_code)], next(anywhere))
            raise TimeLimitExceeded

    previous = signal.signal(signal.SIGALRM, interrupt)
    # The timer repeats, to tell imports from other work, and because the exception may be caught.
    outer, repeat = signal.setitimer(signal.ITIMER_REAL, tick, tick)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        sys.settrace(tracer)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - began)), repeat)


def _frames(frame: FrameType | None, outermost: FrameType) -> list[FrameType]:
    """The frames from ``frame`` out to ``outermost``, innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back if frame is not outermost else None
    return frames


def _imports_a_library(frames: list[FrameType]) -> bool:
    """Whether code in these frames, innermost first, is importing, and not running a module that the student wrote."""
    codes = itertools.takewhile(lambda code: not _is_students(code), (frame.f_code for frame in frames))
    return any(code.co_filename.startswith("<frozen importlib") for code in codes)


def _raise_again_when_caught(frames: list[FrameType], anywhere: bool) -> None:
    """Raise :class:`TimeLimitExceeded` again at a line that is reached after an ``except:`` has caught it.

    With ``anywhere`` that is the first line reached, which is usually in the handler, so that the handler is left. But it may
    also be in another ``try``, in a ``finally`` or at the end of a ``with``; then only a line outside of every ``try`` helps.
    """

    def trace(frame: FrameType, event: str, argument: object) -> TraceFunction:
        if event == "line" and (anywhere or not _is_in_try(frame)):  # other events are part of raising the exception
            raise TimeLimitExceeded
        return trace

    for frame in frames:
        frame.f_trace = trace
    sys.settrace(lambda *_: None)  # new frames are left alone


def _is_in_try(frame: FrameType) -> bool:
    """Whether a handler may catch what is raised here. Code that only cleans up (``lasti``) raises it again, further out."""
    entries, position = _exception_entries(frame.f_code), frame.f_lasti
    for _ in entries:
        covering = next((entry for entry in entries if entry.start <= position < entry.end), None)
        if covering is None or not covering.lasti:
            return covering is not None
        position = covering.target
    return False


def _exception_entries(code: CodeType) -> Sequence[_ExceptionEntry]:
    return dis.Bytecode(code).exception_entries  # type: ignore[attr-defined] # not documented, but there from Python 3.11 on


class _ExceptionEntry(Protocol):
    """A range of bytecode, in which an exception leads to ``target``. With ``lasti`` it is only cleaned up after there."""

    start: int
    end: int
    target: int
    lasti: bool
