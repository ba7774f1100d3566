"""What a command costs, with everything it starts: seconds by the clock, CPU seconds, and memory at its peak.

CPU seconds are counted by the kernel in a control group made for the command. Waiting for children would miss those of
sandboxes: nothing waits for what ends with its namespace. Memory is the proportional set size (memory that processes
share is divided among them), summed over all descendants every ``INTERVAL`` seconds; what lasts shorter is missed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

import psutil

CONTROL_GROUPS = Path("/sys/fs/cgroup")
INTERVAL = 0.5
LAST_BREATH = 30.0
"""Seconds in which what a command has started has to end after it."""


@dataclass(frozen=True)
class Cost:
    """What a command has cost.

    Attributes:
        wall: seconds.
        cpu: seconds; None where no control group can be made, which takes root.
        memory: bytes at the peak.
        status: exit status.
        said: what it wrote to standard output and standard error, its end.
    """

    wall: float
    cpu: float | None
    memory: int
    status: int
    said: str


class CommandError(RuntimeError):
    """A command failed. The message has the command and the end of what it said."""


def run(command: Sequence[str], cwd: Path, *, accepted: Sequence[int] = (0,)) -> Cost:
    """Run a command, on one thread of torch in each of its processes.

    Args:
        command: program and arguments.
        cwd: where.
        accepted: exit statuses that are none of a failure.

    Raises:
        CommandError: it ended with another one.
    """
    with _control_group() as group, _Watch() as watch:
        began = time.perf_counter()
        done = subprocess.run(
            [*_entering(group), *command], cwd=cwd, env=environment(), stdout=PIPE, stderr=STDOUT, text=True, errors="replace"
        )
        wall = time.perf_counter() - began
        _wait_until_empty(group)
        cpu = group and _cpu_seconds(group)
    if done.returncode not in accepted:
        raise CommandError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout[-2000:].strip()}")
    return Cost(wall, cpu, watch.peak, done.returncode, done.stdout[-20_000:])


def environment() -> dict[str, str]:
    """That of this process, with torch on one thread."""
    return os.environ | {"OMP_NUM_THREADS": "1"}


class _Watch:
    """Looks at the memory of all descendants; a context manager. ``peak`` is the most it saw."""

    def __init__(self):
        self.peak, self._end = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(INTERVAL):
            self.peak = max(self.peak, sum(map(_memory, psutil.Process().children(recursive=True))))


def _memory(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.AccessDenied:  # a submission's process hides its memory from everybody but root
        with contextlib.suppress(psutil.Error):
            found = process.memory_info()
            return found.rss - found.shared
    except psutil.Error:
        pass
    return 0


@contextlib.contextmanager
def _control_group() -> Iterator[Path | None]:
    """A control group of our own; None if none can be made."""
    group = _own_group() / f"gradaccum-benchmark-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def _own_group() -> Path:
    """The control group this process is in: in version 1 that of the hierarchy for CPU time, in version 2 the only one."""
    found = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    if "cpuacct" in found:
        return CONTROL_GROUPS / "cpuacct" / found["cpuacct"].lstrip("/")
    return CONTROL_GROUPS / found.get("", "").lstrip("/")


def _entering(group: Path | None) -> list[str]:
    """The beginning of a command line that enters a group and goes on as the command behind it."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")] if group else []


def _cpu_seconds(group: Path) -> float:
    if (group / "cpuacct.usage").exists():
        return int((group / "cpuacct.usage").read_text()) / 1e9
    return int((group / "cpu.stat").read_text().split()[1]) / 1e6  # begins with usage_usec


def _wait_until_empty(group: Path | None) -> None:
    """Wait for what outlives the command that started it, such as a sandbox that is being cleared away."""
    end = time.monotonic() + LAST_BREATH
    while group and (group / "cgroup.procs").read_text() and time.monotonic() < end:
        time.sleep(0.02)
