"""Start fork servers, in a sandbox or without one, and have them fork a process for each submission."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autograder.isolation.folder_for_packages import folder_for_packages
from autograder.isolation.fork_server_protocol import READY, STOP, Ended, ForkRequest, send_another
from autograder.isolation.namespaces import Bounds
from autograder.isolation.sandbox import (
    BWRAP,
    SANDBOXES,
    UNSANDBOXED_HINT,
    ChildError,
    SandboxError,
    bwrap_command,
    fork_server_settings,
    require_bwrap,
)
from autograder.isolation.visible_modules import copy_visible_modules, packages_folder

STARTUP_TIMEOUT = 180.0
"""Seconds in which a fork server must have imported torch, on a cold and busy machine."""

SHUTDOWN_TIMEOUT = 20.0
"""Seconds in which a fork server must say how a process ended that it was told to stop."""

NO_REPLY = Ended(-signal.SIGKILL)
"""How the process of a submission counts as ended if its fork server died, or does not answer."""


class Run:
    """The process of one submission: ``channel`` leads to it, ``control`` to its fork server.

    Whatever a submission brings about counts as an end of its own process, even that the fork server died, for example because
    memory ran out, or does not answer. The fork server is started again for the next submission, so that none stops the
    marking of others.
    """

    def __init__(self, channel: socket.socket, control: socket.socket):
        self.channel, self._control = channel, control
        self._ended: Ended | None = None

    def wait(self, seconds: float) -> bool:
        """Wait until something arrives or the process has ended; return whether something arrived."""
        sockets = [self.channel] if self._ended else [self.channel, self._control]
        readable, _, _ = select.select(sockets, [], [], 0 if self._ended else seconds)
        if self._control in readable:
            self._receive_end()
        return self.channel in readable

    @property
    def ended(self) -> Ended | None:
        """How it ended, None if it has not."""
        return self._ended

    def ended_within(self, seconds: float) -> Ended | None:
        """Wait for its end; return how it ended, None if it has not."""
        if self._ended is None and select.select([self._control], [], [], seconds)[0]:
            self._receive_end()
        return self._ended

    def stop(self) -> Ended:
        """End it if it has not ended; return how it ended."""
        if self._ended is None:
            with contextlib.suppress(OSError):
                self._control.sendall(STOP)
            self._ended = self.ended_within(SHUTDOWN_TIMEOUT) or NO_REPLY
        return self._ended

    def _receive_end(self) -> None:
        self._ended = Ended.receive(self._control) or NO_REPLY


@dataclass
class _Started:
    """The process of a fork server, what it printed, and what a sandbox shows of the packages."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    packages: tempfile.TemporaryDirectory[str]

    def close(self) -> None:
        self.log.close()
        self.process.kill()
        self.process.wait()
        self.packages.cleanup()


@dataclass
class _Server:
    """The socket that leads to a fork server, and what has to be cleared away with it; None if another process does that."""

    control: socket.socket
    started: _Started | None = None
    ready: bool = False

    @property
    def has_ended(self) -> bool:
        return self.started is not None and self.started.process.poll() is not None

    def close(self) -> None:
        self.control.close()
        if self.started:
            self.started.close()


class ForkServer:
    """A process that has torch imported, and forks. Started when it is first needed, and again if it has died.

    Args:
        sandbox: ``"bwrap"`` or ``"none"``.
        device: ``"cpu"`` or ``"cuda"``.
        control: leads to one that another process has started, see :meth:`another`.
        many: whether it is to get ready for many submissions, which takes longer.

    Raises:
        SandboxError: bubblewrap is wanted and not there.
    """

    def __init__(self, sandbox: str, device: str, control: socket.socket | None = None, many: bool = False):
        if sandbox not in SANDBOXES:
            raise ValueError(f"unknown sandbox {sandbox!r}; choose one of {', '.join(SANDBOXES)}")
        if not hasattr(os, "fork"):
            raise ChildError("files can be marked on Linux and macOS; on Windows use check() in the notebook, or WSL")
        if sandbox == BWRAP:
            require_bwrap()
        self._sandbox, self._device, self._many = sandbox, device, many
        self._lock = threading.Lock()
        self._server = _Server(control) if control else None

    @contextlib.contextmanager
    def run(self, bounds: Bounds, folder: Path) -> Iterator[Run]:
        """Fork a process for one submission, and end it with all that it started.

        Args:
            bounds: what it may use.
            folder: where it runs if there is no sandbox; in a sandbox that is an empty folder.

        Raises:
            ChildError: none can be started.
        """
        request = ForkRequest(bounds, str(folder.absolute()))
        with self._lock:
            ours, theirs = socket.socketpair()
            with ours:
                with theirs:
                    run = Run(ours, self._ask(request, theirs))
                try:
                    yield run
                    if error := run.stop().error:
                        raise SandboxError(f"{error}; mark elsewhere, or without a sandbox {UNSANDBOXED_HINT}")
                finally:
                    if run.ended is None or run.ended is NO_REPLY:  # interrupted meanwhile, or it does not answer
                        self._close()

    def _ask(self, request: ForkRequest, channel: socket.socket) -> socket.socket:
        """Ask for a process, and return the socket over which its end is reported.

        The fork server is started first if it is not there or turns out to have died meanwhile.
        """
        for _ in range(2):
            control = self._start().control
            with contextlib.suppress(OSError):
                request.send(control, channel)
                if control.recv(len(READY), socket.MSG_WAITALL) == READY:
                    return control
            self._close()
        raise ChildError("the marking process ends as soon as it is asked for something")

    def close(self) -> None:
        """End the fork server; it is started again when it is needed."""
        with self._lock:
            self._close()

    def launch(self) -> None:
        """Start it now, without waiting until it is ready, so that it imports torch while the caller does something else."""
        with self._lock:
            self._launch()

    def another(self) -> socket.socket:
        """The socket that leads to a further fork server: a fork of this one, which is in the same sandbox and ends with it.

        Another process may use it. Nothing may be run by a fork server that has such forks: it would end them.
        """
        with self._lock:
            ours, theirs = socket.socketpair()
            with theirs, contextlib.suppress(OSError):  # then it has died, as the reader of the socket finds out
                send_another(self._launch().control, theirs)
        return ours

    def _launch(self) -> _Server:
        if self._server is not None and not self._server.has_ended:
            return self._server
        self._close()
        control, theirs = socket.socketpair()
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _Started.close
        packages = folder_for_packages()
        with theirs:
            number = theirs.fileno()
            options = [*(["isolate"] if self._sandbox == BWRAP else []), *(["many"] if self._many else [])]
            command = [sys.executable, "-P", "-m", "autograder.isolation.fork_server", str(number), self._device, *options]
            environment: dict[str, str] = {}
            if self._sandbox == BWRAP:
                copy_visible_modules(Path(packages.name))
                command = [*bwrap_command(Path(packages.name), self._device), *command]
            else:
                environment = os.environ | fork_server_settings(self._device) | {"PYTHONPATH": _import_path()}
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=[number],
                start_new_session=True,
            )
        self._server = _Server(control, _Started(process, log, packages))
        return self._server

    def _start(self) -> _Server:
        """Start it if need be, and wait until it is ready."""
        server = self._launch()
        if not server.ready:
            arrived = select.select([server.control], [], [], STARTUP_TIMEOUT)[0]
            server.ready = bool(arrived and server.control.recv(len(READY)))
        if server.ready:
            return server
        if server.started is None:  # what another process had started has died
            self._close()
            return self._start()
        server.started.log.seek(0)
        printed = server.started.log.read()[-2000:].decode(errors="replace").strip()
        self._close()
        raise ChildError(f"the marking process did not start: {printed}")

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


_shared: dict[tuple[str, str], ForkServer] = {}


def shared_fork_server(sandbox: str, device: str) -> ForkServer:
    """The fork server that this process uses for a sandbox and a device, already being started. It ends with this process.

    Raises:
        SandboxError: bubblewrap is wanted and not there.
    """
    if (sandbox, device) not in _shared:
        server = _shared[sandbox, device] = ForkServer(sandbox, device)
        atexit.register(server.close)
        server.launch()
    return _shared[sandbox, device]


def use_fork_server(sandbox: str, device: str, control: socket.socket) -> None:
    """Have this process use one that another process has started, over the socket that :meth:`ForkServer.another` returned."""
    _shared[sandbox, device] = ForkServer(sandbox, device, control)


def _import_path() -> str:
    return os.pathsep.join([str(packages_folder()), *filter(None, [os.environ.get("PYTHONPATH")])])
