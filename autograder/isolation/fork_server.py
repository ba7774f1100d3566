"""The fork server, ``python -m autograder.isolation.fork_server FD DEVICE [isolate]``: a process with torch that forks.

It forks a process for each submission and never touches what a submission says. Over the socket FD it is told what a submission
may use, and handed the socket over which that one is observed (see :mod:`autograder.isolation.worker`); it answers how the
process ended. Every fork starts from the same memory, so nothing leaks from one submission to the next. With ``isolate`` each
one gets namespaces of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import psutil

from autograder.isolation import namespaces
from autograder.isolation.namespaces import Bounds
from autograder.isolation.sandbox import READY
from autograder.support.garbage_collection import no_collections

with no_collections():
    from autograder.isolation import worker


TICK = 0.05
"""Seconds between two looks at what a submission uses."""

LONGEST_MESSAGE = 4096
STOP = b"stop\n"

NO_SANDBOX, UNKNOWN_END = 255, 254
"""Exit statuses of the first process of a pid namespace whose set-up failed, and of one that failed itself later. Student code
cannot bring the first about, since it runs only when the set-up is over."""


@dataclass(frozen=True)
class Ended:
    """How the process of a submission ended.

    Attributes:
        code: its exit status, or minus the signal that ended it, as in :mod:`subprocess`; None if it was stopped as told.
        over: what it used too much of, ``"memory"`` or ``"processes"``, if that is why it was ended.
        error: why it could not even be started.
    """

    code: int | None = None
    over: str = ""
    error: str = ""


def main() -> None:
    """Serve until the other side hangs up."""
    control, device, isolate = socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:] == ["isolate"]
    worker.get_ready(device)
    namespaces.adopt_orphans()
    base = _held(psutil.Process())
    control.sendall(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, 1)
        if not message:
            return
        if not descriptors:
            continue  # told to stop a run that had just ended
        control.sendall(READY)
        asked = json.loads(message)
        bounds = Bounds(**asked["bounds"])
        try:
            process = _fork(descriptors[0], control, bounds, isolate, asked["folder"])
        except OSError as error:
            ended = Ended(error=str(error))
        else:
            os.close(descriptors[0])
            ended = _supervise(process, control, bounds, base, isolate)
            _clear_away()
        control.sendall(json.dumps(vars(ended)).encode() + b"\n")


def _fork(channel: int, control: socket.socket, bounds: Bounds, isolate: bool, folder: str) -> int:
    """Start the process of a submission; the one to wait for."""
    if not isolate:
        process = os.fork()
        if process == 0:
            _run(channel, control, bounds, folder)
        return process
    reader, writer = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(reader)
        _enter(writer, channel, control, bounds)
    os.close(writer)
    with open(reader) as said:
        answer = said.read()
    os.waitpid(helper, 0)
    if not answer.isdecimal():
        raise OSError(answer or "the namespaces of a submission could not be made")
    return int(answer)


def _enter(writer: int, channel: int, control: socket.socket, bounds: Bounds) -> NoReturn:
    """In the fork: leave for new namespaces and start their first process, which outlives this one."""
    try:
        namespaces.unshare()
        first = os.fork()
        if first:
            os.write(writer, str(first).encode())
            os._exit(0)
    except OSError as error:
        os.write(writer, str(error).encode())
        os._exit(1)
    # The first process of a pid namespace: with it ends every other one in it, whatever it did to stay.
    code = NO_SANDBOX
    try:
        os.close(writer)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the kernel keeps from this process what it has no handler for
        namespaces.furnish(bounds.disk)
        namespaces.bound_inside(bounds)
        namespaces.give_up_privileges()
        namespaces.refuse_calls()
        namespaces.hide_memory()
        second = os.fork()
        if second == 0:
            _run(channel, control, bounds, "/tmp")
        code = UNKNOWN_END
        os.close(channel)
        control.close()
        code = min(_exit_status(second), UNKNOWN_END)
    finally:
        os._exit(code)


def _run(channel: int, control: socket.socket, bounds: Bounds, folder: str) -> NoReturn:
    """In the process of the submission: never returns."""
    try:
        control.close()
        os.setsid()
        os.chdir(folder)
        namespaces.bound(bounds)
        worker.serve(socket.socket(fileno=channel))
    finally:
        os._exit(1)


def _exit_status(process: int) -> int:
    """Wait for a child, and for orphans meanwhile; 128 and more stand for a signal, as in a shell."""
    while True:
        with contextlib.suppress(InterruptedError):
            ended, status = os.wait()
            if ended == process:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code


def _supervise(process: int, control: socket.socket, bounds: Bounds, base: int, isolate: bool) -> Ended:
    """Wait until the process ends, or is to be ended: told to by the other side, or because it uses too much."""
    look = time.monotonic() + TICK
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return _as_it_ended(os.waitstatus_to_exitcode(status), isolate)
        if select.select([control], [], [], TICK / 3)[0]:
            told = control.recv(LONGEST_MESSAGE)
            _end(process)
            if not told:
                sys.exit()
            return Ended()
        if time.monotonic() >= look:
            if over := _over(bounds, base):
                _end(process)
                return Ended(over=over)
            look = time.monotonic() + TICK


def _as_it_ended(code: int, isolate: bool) -> Ended:
    if isolate and code == NO_SANDBOX:
        return Ended(error="the private surroundings of a submission could not be made")
    by_signal = isolate and 128 < code <= 128 + signal.SIGRTMAX
    return Ended(128 - code if by_signal else code)


def _over(bounds: Bounds, base: int) -> str:
    """What the submission's processes use too much of, or nothing."""
    threads = grown = 0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            threads += process.num_threads()
            grown += max(0, _held(process) - base)
    if threads > bounds.processes:
        return "processes"
    return "memory" if 0 < bounds.memory < grown else ""


def _held(process: psutil.Process) -> int:
    """Bytes of memory that belong to no file. A fork begins with as many as its original, whatever files that has looked at."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:  # it is gone, or this is not Linux
        return process.memory_info().rss
    return sum(int(kilobytes) for kilobytes in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", status, re.MULTILINE)) * 1024


def _end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _clear_away() -> None:
    """End whatever a submission left behind."""
    while left := psutil.Process().children(recursive=True):
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)


if __name__ == "__main__":
    main()
