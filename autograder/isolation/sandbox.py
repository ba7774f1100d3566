"""Start warm parents, in a sandbox or without one, and have them fork a process for each submission. Judging stays here.

The sandbox is bubblewrap's: no network, an empty environment, and of the file system only what Python needs, to be read. In it
every submission gets namespaces of its own (see :mod:`autograder.isolation.namespaces`).
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import platform
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

from autograder.isolation import seccomp
from autograder.isolation.namespaces import Bounds

READY = b"ready\n"
"""What a warm parent says when it has started, and whenever it begins to do what it was asked for."""

BWRAP, NONE = "bwrap", "none"
SANDBOXES = (BWRAP, NONE)

START_UP = 180.0
"""Seconds in which a warm parent has to have imported torch, on a cold and busy machine."""

HOW_WITHOUT = "if you trust every file (grade … --sandbox none, MarkSubmission.sandbox=none in nbgrader; see docs/security.md)"

SLOW_END = 20.0
"""Seconds in which a warm parent has to say how a process ended that it was told to stop."""


LOST = {"code": -signal.SIGKILL, "over": "", "error": ""}
"""How a process ended if nobody is left to say."""


class ChildError(RuntimeError):
    """No process can be started to run a submission in. No submission's fault."""


class SandboxError(ChildError):
    """There is no sandbox here. The message says what to do."""


class Run:
    """The process of one submission: ``channel`` leads to it, ``control`` to its parent.

    Whatever a submission brings about is an end of its own process: that the parent died, too, say for want of memory, or does
    not answer. It is started again for the next one, so that no submission stops the marking of others.
    """

    def __init__(self, channel: socket.socket, control: socket.socket):
        self.channel, self._control, self._ended = channel, control, None

    def wait(self, seconds: float) -> bool:
        """Wait until something arrives or the process has ended; whether something arrived."""
        sockets = [self.channel] if self._ended else [self.channel, self._control]
        readable, _, _ = select.select(sockets, [], [], 0 if self._ended else seconds)
        if self._control in readable:
            self._ended = _answer(self._control)
        return self.channel in readable

    @property
    def ended(self) -> dict | None:
        """How it ended (see :class:`autograder.isolation.fork_server.Ended`), None if it has not."""
        return self._ended

    def ended_within(self, seconds: float) -> dict | None:
        """Wait for its end; how it ended, None if it has not."""
        if self._ended is None and select.select([self._control], [], [], seconds)[0]:
            self._ended = _answer(self._control)
        return self._ended

    def stop(self) -> dict:
        """End it, if it has not; how it ended."""
        if self._ended is None:
            with contextlib.suppress(OSError):
                self._control.sendall(b"stop\n")
            if not self.ended_within(SLOW_END):
                self._ended = LOST
        return self._ended


class WarmParent:
    """A process that has torch imported, and forks. Started when it is first needed, and again should it have died.

    Args:
        sandbox: ``"bwrap"`` or ``"none"``.
        device: ``"cpu"`` or ``"cuda"``.

    Raises:
        SandboxError: bubblewrap is wanted and not there.
    """

    def __init__(self, sandbox: str, device: str):
        if sandbox not in SANDBOXES:
            raise ValueError(f"unknown sandbox {sandbox!r}; choose one of {', '.join(SANDBOXES)}")
        if not hasattr(os, "fork"):
            raise ChildError("files can be marked on Linux and macOS; on Windows use check() in the notebook, or WSL")
        if sandbox == BWRAP:
            require_bwrap()
        self._sandbox, self._device = sandbox, device
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._control: socket.socket | None = None
        self._log: IO[bytes] | None = None
        self._ready = False

    @contextlib.contextmanager
    def run(self, bounds: Bounds, folder: Path) -> Iterator[Run]:
        """Fork a process for one submission, and end it with all that it started.

        Args:
            bounds: what it may use.
            folder: where it runs, without a sandbox; in one that is an empty place.

        Raises:
            ChildError: none can be started.
        """
        with self._lock:
            ours, theirs = socket.socketpair()
            with ours:
                with theirs:
                    self._ask(json.dumps({"bounds": asdict(bounds), "folder": str(folder.absolute())}), theirs)
                run = Run(ours, self._control)
                try:
                    yield run
                    if error := run.stop()["error"]:
                        raise SandboxError(f"{error}; mark elsewhere, or without a sandbox {HOW_WITHOUT}")
                finally:
                    if run.ended is None or run.ended is LOST:  # interrupted in between, or it does not answer
                        self._close()

    def _ask(self, what: str, channel: socket.socket) -> None:
        """Ask the warm parent for a process; start it first if it is not there, or turns out to have died meanwhile."""
        for attempt in (1, 2):
            self._start()
            try:
                socket.send_fds(self._control, [what.encode()], [channel.fileno()])
                if self._control.recv(len(READY), socket.MSG_WAITALL) == READY:
                    return
            except OSError:
                pass
            self._close()
            if attempt == 2:
                raise ChildError("the marking process ends as soon as it is asked for something")

    def close(self) -> None:
        """End the warm parent; it is started again when it is needed."""
        with self._lock:
            self._close()

    def launch(self) -> None:
        """Start it now, without waiting until it is there: what it imports takes as long as what its caller may have to."""
        with self._lock:
            self._launch()

    def _launch(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._close()
        self._control, theirs = socket.socketpair()
        self._log, self._ready = tempfile.TemporaryFile(), False  # noqa: SIM115 - closed in _close
        with theirs:
            end = theirs.fileno()
            isolate = ["isolate"] if self._sandbox == BWRAP else []
            command = [sys.executable, "-P", "-m", "autograder.isolation.fork_server", str(end), self._device, *isolate]
            if self._sandbox == BWRAP:
                command, environment = [*bwrap_command(self._device), *command], {}
            else:
                environment = os.environ | _settings(self._device) | {"PYTHONPATH": os.pathsep.join(_import_path())}
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=environment,
                pass_fds=[end],
                start_new_session=True,
            )

    def _start(self) -> None:
        self._launch()
        if self._ready:
            return
        self._ready = bool(select.select([self._control], [], [], START_UP)[0] and self._control.recv(len(READY)))
        if not self._ready:
            self._log.seek(0)
            said = self._log.read()[-2000:].decode(errors="replace").strip()
            self._close()
            raise ChildError(f"the marking process did not start: {said}")

    def _close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@functools.cache
def shared_parent(sandbox: str, device: str) -> WarmParent:
    """The warm parent of this process for a sandbox and a device, being started: it is there until the process ends.

    Raises:
        SandboxError: bubblewrap is wanted and not there.
    """
    parent = WarmParent(sandbox, device)
    atexit.register(parent.close)
    parent.launch()
    return parent


def require_bwrap() -> None:
    """Check that submissions can be sandboxed here.

    Raises:
        SandboxError: they cannot; the message says what to do.
    """
    if sys.platform != "linux":
        raise SandboxError(f"the sandbox needs Linux; mark there, or without a sandbox {HOW_WITHOUT}")
    if platform.machine() not in seccomp.TABLES:
        known = " and ".join(seccomp.TABLES)
        raise SandboxError(
            f"the sandbox knows {known} only, not {platform.machine()}; mark there, or without one {HOW_WITHOUT}"
        )
    if shutil.which("bwrap") is None:
        raise SandboxError(
            f"bubblewrap is not installed; install it (apt-get install bubblewrap), or mark without a sandbox {HOW_WITHOUT}"
        )


def bwrap_command(device: str = "cpu", more: Sequence[str] = ()) -> list[str]:
    """``bwrap`` and its options, with ``more`` of them: what a sandbox looks like from inside."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    command += ["--uid", "1000", "--gid", "1000"]  # whoever marks: the kernel hands no root on to namespaces within
    for name, value in (_settings(device) | {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}).items():
        command += ["--setenv", name, value]
    command += ["--setenv", "PYTHONPATH", str(_packages()[0].parent)]
    for place in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            command += ["--ro-bind", place, place]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for place in _visible():  # after /tmp, where the clone may lie
        command += ["--ro-bind", place, place]
    for fonts in _font_lists():  # matplotlib would take seconds to make another one
        command += ["--ro-bind", str(fonts), f"/tmp/.cache/matplotlib/{fonts.name}"]
    if device == "cuda":
        for node in sorted(Path("/dev").glob("nvidia*")):
            command += ["--dev-bind", str(node), str(node)]
        command += ["--ro-bind-try", "/sys", "/sys"]
    return [*command, *more, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]


def _settings(device: str) -> dict[str, str]:
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return {"PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"} | one_thread | _gpus(device)


def _gpus(device: str) -> dict[str, str]:
    """Which GPUs a process sees, and how it looks for them: a process that sees one and computes cannot be forked any more."""
    if device == "cpu":
        return {"CUDA_VISIBLE_DEVICES": ""}
    kept = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


def _packages() -> list[Path]:
    root = Path(__file__).resolve().parents[2]
    return [root / "autograder", root / "gradaccum"]


def _visible() -> list[str]:
    """Python, its libraries and the course's two packages; not the folder these lie in, with its notebooks and tests."""
    libraries = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    places = ["/usr", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/fonts", "/etc/localtime"]
    places += [sys.base_prefix, sys.prefix, *libraries, *map(str, _packages())]
    there = {os.path.abspath(place): None for place in places if os.path.exists(place)}
    real = {os.path.realpath(place): None for place in there}
    return sorted({**there, **real}, key=len)  # outer folders first


def _font_lists() -> list[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return sorted(Path(os.environ.get("MPLCONFIGDIR") or cache / "matplotlib").glob("fontlist-*.json"))


def _import_path() -> list[str]:
    return [str(_packages()[0].parent), *filter(None, [os.environ.get("PYTHONPATH")])]


def _answer(control: socket.socket) -> dict:
    """The line in which a warm parent says how a process ended."""
    said = b""
    while not said.endswith(b"\n"):
        try:
            part = control.recv(4096)
        except OSError:
            part = b""
        if not part:
            return LOST
        said += part
    return json.loads(said)
