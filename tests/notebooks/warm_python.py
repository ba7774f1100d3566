"""Python that has already imported what notebooks and nbgrader do: programs are forks of it and start at once.

    python warm_python.py serve SOCKET         the process that forks; it ends when its standard input is closed
    python warm_python.py SOCKET ARGUMENT…     as ``python ARGUMENT…``, a script or ``-m MODULE`` with arguments of its own

The second has the standard streams, the folder and the environment of the program that it stands for, passes its signals on and
ends as it ends; if it is killed, so is the program. Anything that starts Python can start this instead.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

PASSED_ON = (signal.SIGINT, signal.SIGTERM)
STREAMS = (0, 1, 2)


def warm_python() -> list[str]:
    """The command that stands for ``python``, from a folder and an environment of any kind."""
    return [sys.executable, "-IS", __file__, _server_socket()]


def warm_programs(folder: Path, *names: str) -> Path:
    """A new folder with programs of this Python that start this way, to be put in front of ``PATH``."""
    folder.mkdir()
    for name in names:
        command = shlex.join([*warm_python(), str(Path(sys.executable).with_name(name))])
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def warm_kernels(data: Path) -> dict[str, str]:
    """The environment in which Jupyter starts its kernels this way, as it finds in the new folder ``data``.

    It looks there first of all; to what is in ``JUPYTER_DATA_DIR`` it prefers the kernels of a virtual environment.
    """
    folder = data / "kernels" / "python3"
    folder.mkdir(parents=True)
    command = [*warm_python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3 (ipykernel)", "language": "python", "metadata": {"debugger": True}}
    (folder / "kernel.json").write_text(json.dumps(spec))
    return {"JUPYTER_PATH": str(data)}


@cache
def _server_socket() -> str:
    """Where the process that forks listens, once for all who need it in this one; it ends with this one."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    path = f"{folder.name}/socket"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # threads that wait for each other make small experiments slow
    server = subprocess.Popen([sys.executable, __file__, "serve", path], stdin=subprocess.PIPE, env=environment)
    end = time.monotonic() + 120
    while not os.path.exists(path):
        assert server.poll() is None, "the process that forks did not start"
        assert time.monotonic() < end, "the process that forks does not listen"
        time.sleep(0.05)

    @atexit.register
    def close() -> None:
        server.communicate(timeout=60)
        folder.cleanup()

    return path


def serve(path: str) -> None:
    """Fork for everybody who connects, until standard input ends."""
    import gc

    import ipykernel.kernelapp  # noqa: F401 - once for all programs, as the next ones
    import ipywidgets  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import nbgrader.apps  # noqa: F401
    import torch._dynamo  # noqa: F401 - optimizers do

    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{path}.new")
        listener.listen(64)
        os.rename(f"{path}.new", path)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _look_after(connection)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _look_after(connection: socket.socket) -> None:
    """Fork the program that is asked for, pass signals on to it, and say how it ended."""
    size, streams, _, _ = socket.recv_fds(connection, 4, len(STREAMS), socket.MSG_WAITALL)
    message = connection.recv(int.from_bytes(size), socket.MSG_WAITALL)
    program = os.fork()
    if program == 0:
        connection.close()
        _become(streams, **json.loads(message))
    for stream in streams:
        os.close(stream)
    while (ended := os.waitpid(program, os.WNOHANG))[0] == 0:
        if select.select([connection], [], [], 0.02)[0]:
            number = connection.recv(1)
            with contextlib.suppress(ProcessLookupError):
                os.kill(program, number[0]) if number else os.killpg(program, signal.SIGKILL)
    with contextlib.suppress(OSError):
        connection.sendall(os.waitstatus_to_exitcode(ended[1]).to_bytes(4, signed=True))
    os._exit(0)


def _become(streams: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run a program in this process, and end with it as Python does."""
    import runpy

    os.setsid()
    for number, stream in zip(STREAMS, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = map(_stream, STREAMS)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[1:1] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    status = 1
    try:
        if arguments[0] == "-m":
            sys.argv, sys.path[0] = arguments[1:], folder
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.abspath(arguments[0]))
            runpy.run_path(arguments[0], run_name="__main__")
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
        if not isinstance(left.code, int | None):
            print(left.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    with contextlib.suppress(BaseException):
        sys.stdout.flush(), sys.stderr.flush()
    os._exit(status)


def _stream(number: int):
    return open(number, "w" if number else "r", buffering=1 if number else -1, encoding="utf-8", closefd=False)


def run(path: str, arguments: list[str]) -> int:
    """Have a program run in a fork, and return its exit status."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        told = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
        message = json.dumps(told).encode()
        socket.send_fds(server, [len(message).to_bytes(4)], list(STREAMS))
        server.sendall(message)
        for number in PASSED_ON:
            signal.signal(number, lambda number, frame: server.sendall(bytes([number])))
        answer = server.recv(4, socket.MSG_WAITALL)
    status = int.from_bytes(answer, signed=True) if len(answer) == 4 else 1
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status in PASSED_ON else None
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
