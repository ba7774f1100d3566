"""The fork server, ``python -m autograder.isolation.fork_server FD DEVICE [isolate] [many]``: a process with torch that forks.

It forks a process for each submission and never touches what a submission says. Over the socket FD it is told what a submission
may use, and handed the socket over which that one is observed (see :mod:`autograder.isolation.worker`); it answers how the
process ended (see :mod:`autograder.isolation.fork_server_protocol`). Every fork starts from the same memory, so nothing leaks
from one submission to the next. With ``isolate`` each one gets namespaces of its own; with ``many`` it takes longer to start
and less for each submission.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import psutil

from autograder.isolation import namespaces
from autograder.isolation.fork_server_protocol import MAX_MESSAGE, READY, Ended, ForkRequest
from autograder.isolation.namespaces import Bounds
from autograder.support.garbage_collection import collection_paused

with collection_paused():
    from autograder.isolation import worker


TICK = 0.05
"""Seconds between two looks at what a submission uses."""

NO_SANDBOX, UNKNOWN_END = 255, 254
"""Exit statuses of the first process of a pid namespace whose set-up failed, and of one that failed itself later. Student code
cannot bring the first about, since it runs only when the set-up is over."""


def main() -> None:
    """Serve until the other side hangs up."""
    control, device, options = socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:]
    isolate = "isolate" in options
    worker.get_ready(device, "many" in options)
    namespaces.adopt_orphans()
    base = _anonymous_memory(psutil.Process())
    control.sendall(READY)
    while received := ForkRequest.receive(control):
        request, channel = received
        if request is None:
            control = _another(control, channel)
            continue
        control.sendall(READY)
        _serve(request, channel, control, base, isolate).send(control)


def _another(control: socket.socket, channel: int) -> socket.socket:
    """Fork a fork server that serves over another socket; return the socket over which this process serves from now on."""
    if os.fork():
        os.close(channel)
        return control
    control.close()
    namespaces.adopt_orphans()
    control = socket.socket(fileno=channel)
    control.sendall(READY)
    return control


def _serve(request: ForkRequest, channel: int, control: socket.socket, base: int, isolate: bool) -> Ended:
    """Run one submission in a process of its own; return how that ended."""
    try:
        process = _fork_isolated(channel, control, request.bounds) if isolate else _fork(channel, control, request)
    except OSError as error:
        return Ended(error=str(error))
    finally:
        os.close(channel)
    ended = Ended(-signal.SIGKILL) if process is None else _supervise(process, control, request.bounds, base, isolate)
    _kill_leftovers()
    return ended


def _fork(channel: int, control: socket.socket, request: ForkRequest) -> int:
    """Start the process of a submission; return its id."""
    process = os.fork()
    if process == 0:
        _run(channel, control, request.bounds, request.folder)
    return process


def _fork_isolated(channel: int, control: socket.socket, bounds: Bounds) -> int | None:
    """Start the process of a submission in new namespaces; return the first process in these, with which all others end.

    Returns:
        Its id in the namespace of this process; None if the process that was to start it was killed.

    Raises:
        OSError: there can be no namespaces.
    """
    reader, writer = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(reader)
        _enter_namespaces(writer, channel, control, bounds)
    os.close(writer)
    with open(reader) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(helper, 0)
    if answer.isdecimal():
        return int(answer)
    if os.WIFSIGNALED(status):
        return None
    raise OSError(answer or "the namespaces of a submission could not be made")


def _enter_namespaces(writer: int, channel: int, control: socket.socket, bounds: Bounds) -> NoReturn:
    """In the fork: enter new namespaces and start their first process, which outlives this one.

    The first process's id, or why there is none, is written to ``writer``. Whatever goes wrong, such as the fork server having
    died, this process ends here: it has the fork server's socket, over which only the fork server itself may answer.
    """
    try:
        try:
            namespaces.unshare()
            first = os.fork()
        except OSError as error:
            os.write(writer, str(error).encode())
            os._exit(1)
        if first == 0:
            os.close(writer)
            _be_first(channel, control, bounds)
        os.write(writer, str(first).encode())
        os._exit(0)
    finally:
        os._exit(1)


def _be_first(channel: int, control: socket.socket, bounds: Bounds) -> NoReturn:
    """In the first process of a pid namespace: set it up, start the submission's process and end as that does.

    Every other process in the namespace ends with this one, whatever it did to stay.
    """
    code = NO_SANDBOX
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the kernel keeps from this process what it has no handler for
        namespaces.mount_private_filesystems(bounds.disk)
        namespaces.set_namespace_rlimits(bounds)
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
    """In the process of the submission."""
    try:
        control.close()
        os.setsid()
        os.chdir(folder)
        namespaces.set_rlimits(bounds)
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
    """Wait until the process ends, or is to be ended: because the other side says so, or because it uses too much."""
    next_look = time.monotonic() + TICK
    with _end_noticed(process) as (noticed, patience):
        while True:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                return _end_of(os.waitstatus_to_exitcode(status), isolate)
            if control.fileno() in select.select([control.fileno(), *noticed], [], [], patience)[0]:
                message = control.recv(MAX_MESSAGE)
                _kill(process)
                if not message:
                    sys.exit()
                return Ended()
            if time.monotonic() >= next_look:
                if over := _over(bounds, base):
                    _kill(process)
                    return Ended(over=over)
                next_look = time.monotonic() + TICK


@contextlib.contextmanager
def _end_noticed(process: int) -> Iterator[tuple[list[int], float]]:
    """What ``select`` waits for to notice the end of a process, and for how many seconds: Linux has a descriptor for it."""
    try:
        descriptor = os.pidfd_open(process)
    except (AttributeError, OSError):  # this is not Linux, or one before 5.3
        descriptor = None
    if descriptor is None:
        yield [], TICK / 3
        return
    try:
        yield [descriptor], TICK
    finally:
        os.close(descriptor)


def _end_of(code: int, isolate: bool) -> Ended:
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
            grown += max(0, _anonymous_memory(process) - base)
    if threads > bounds.processes:
        return "processes"
    return "memory" if 0 < bounds.memory < grown else ""


def _anonymous_memory(process: psutil.Process) -> int:
    """Bytes of memory that belong to no file. A fork begins with as many as its original, whatever files that has looked at."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:  # it is gone, or this is not Linux
        return process.memory_info().rss
    return sum(int(kilobytes) for kilobytes in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", status, re.MULTILINE)) * 1024


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _kill_leftovers() -> None:
    """End all processes that a submission left behind."""
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
