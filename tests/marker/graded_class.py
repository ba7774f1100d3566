"""Classes that are marked with ``gradaccum classroom grade``, and what that leaves behind."""

from __future__ import annotations

import copy
import ctypes
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from typer.testing import CliRunner

from autograder.classroom.commands import app

UNIT = "03_accumulate"
FULL = 10.0
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
PRELOADED = ("autograder.classroom.commands", "autograder.classroom.grading.terminal_output", "distributed")


class GradedClass:
    """A class with one unit, released.

    Commands run in this process, except those that a test interrupts or kills.

    Args:
        root: an empty folder.
        scheduler: the address of a scheduler whose worker has already started; empty for workers of this machine.
        options: for ``init``.
        unit: of the class.
    """

    def __init__(self, root: Path, scheduler: str, *options: str, unit: str = UNIT):
        self.root, self.directory, self.scheduler, self.unit = root, root / "class", scheduler, unit
        self.do("init", "--units", unit[:2], *options)
        self.do("release", "--units", unit[:2])
        self.right = (self.directory / "source" / unit / f"{unit}.ipynb").read_bytes()
        self.untouched = (self.directory / "release" / unit / f"{unit}.ipynb").read_bytes()

    def copied_to(self, root: Path) -> GradedClass:
        """A copy of the class, as far as it is, in an empty folder: faster than to make another one."""
        other = copy.copy(self)
        other.root, other.directory = root, root / "class"
        shutil.copytree(self.directory, other.directory)
        return other

    def hand_in(self, student: str, content: bytes, unit: str = "") -> Path:
        unit = unit or self.unit
        file = self.directory / "submitted" / student / unit / f"{unit}.ipynb"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def hand_in_many(self, number: int, *, pause: int = 0) -> dict[str, float]:
        """Hand in correct notebooks, every third one untouched instead. Returns the expected points by student.

        Args:
            number: of notebooks.
            pause: seconds that each of them sleeps when it is run, so that a test can step in before all are marked.
        """
        expected = {}
        begin = b"def accumulate_gradient("
        for k in range(number):
            student = f"student{k:02}"
            content = self.untouched if k % 3 == 2 else self.right
            assert content.count(begin) == 1
            sleeping = b"import time; time.sleep(%d)\\n" % pause if pause else b""
            self.hand_in(student, content.replace(begin, sleeping + begin))
            expected[student] = 0.0 if k % 3 == 2 else FULL
        return expected

    def do(self, command: str, *options: str, status: int = 0) -> Result:
        """Run a command of ``gradaccum classroom`` on this class; fails unless it ends with this exit status."""
        invoked = CliRunner().invoke(app, [command, str(self.directory), *options])
        result = Result(invoked.exit_code, invoked.stdout, invoked.stderr)
        assert invoked.exit_code == status, (result, invoked.exc_info)
        return result

    def grade(self, *options: str, status: int = 0) -> Result:
        return self.do("grade", "--scheduler", self.scheduler, *options, status=status)

    def start(self, *options: str, environment: dict[str, str] | None = None) -> Process:
        """Start ``gradaccum classroom grade`` in a process of its own, see :func:`ended`.

        Args:
            options: for the command.
            environment: variables to set in addition.
        """
        where = () if "--workers" in options or "--scheduler" in options else ("--scheduler", self.scheduler)
        program = str(Path(sys.executable).with_name("gradaccum"))
        return subprocess.Popen(
            [program, "classroom", "grade", str(self.directory), *where, *options],
            env=os.environ | (environment or {}),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def fork(self, *options: str) -> Process:
        """The same as :meth:`start`, from a process that has imported everything: it starts at once, instead of in seconds.

        Not for ``--workers``: the workers would be forks of that process, too.
        """
        return _Fork(["grade", str(self.directory), "--scheduler", self.scheduler, *options], self.root)

    def fork_with_mounts(self, directory: Path, command: str, *options: str, before: str, after: str = "") -> Process:
        """Start a command on the class in ``directory`` in such a fork, as root of its own namespaces, in which it may mount.

        Args:
            directory: that of this class, or of what ``before`` makes of it.
            command: of ``gradaccum classroom``.
            options: for it.
            before: a shell script that mounts something. The command only runs if it succeeds.
            after: a shell script to run when the command has ended.
        """
        return _Fork([command, str(directory), *options], self.root, (before, after))

    def scores(self, url: str = "") -> dict[str, float]:
        """The points in the gradebook, by student."""
        from nbgrader.api import Gradebook

        with Gradebook(url or f"sqlite:///{self.directory}/gradebook.db") as gradebook:
            submissions = gradebook.assignment_submissions(self.unit)
            assert len(submissions) == len({one.student_id for one in submissions})
            return {one.student_id: one.score for one in submissions}

    def marks(self) -> dict[str, tuple[int, int]]:
        """Inode and time of the file of marks of each student: a file that is written again gets new ones."""
        files = (self.directory / "marks").glob(f"*/{self.unit}.json")
        return {path.parent.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    def wait_for_marks(self, process: Process, number: int, seconds: float = 120) -> None:
        """Wait until this many submissions are marked, or the process has ended."""
        wait_for(lambda: len(self.marks()) >= number or process.poll() is not None, seconds)

    def unfinished_files(self) -> list[Path]:
        return [path for path in self.directory.rglob("*") if ".unfinished" in path.name]


class Result:
    """How a command ended: its exit status, what it printed, and what it printed to stderr."""

    def __init__(self, status: int, output: str, complaints: str):
        self.status, self.output, self.complaints = status, output, complaints

    def __repr__(self) -> str:
        return f"exit status {self.status}\n{self.output}\n{self.complaints}"


class Process(Protocol):
    """The part of :class:`subprocess.Popen` that tests use."""

    pid: int

    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def send_signal(self, signal: int, /) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def communicate(self, *, timeout: float | None = None) -> tuple[str, str]: ...


class _Fork:
    """A command of ``gradaccum classroom`` in a fork of multiprocessing's fork server."""

    def __init__(self, arguments: list[str], folder: Path, scripts: tuple[str, str] | None = None):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([*PRELOADED])
        self._output, self._complaints = folder / "output.txt", folder / "complaints.txt"
        self._process = context.Process(target=_run, args=(arguments, str(self._output), str(self._complaints), scripts))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, signal: int, /) -> None:
        os.kill(self.pid, signal)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError
        return self._process.exitcode

    def communicate(self, *, timeout: float | None = None) -> tuple[str, str]:
        self.wait(timeout)
        return self._output.read_text(), self._complaints.read_text()


def _run(arguments: list[str], output: str, complaints: str, scripts: tuple[str, str] | None) -> None:
    for path, stream in ((output, 1), (complaints, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    if scripts is None:
        app(arguments)
        return
    _enter_private_namespaces()
    before, after = scripts
    subprocess.run(["bash", "-ec", f"mount --make-rprivate /; {before}"], check=True)
    try:
        app(arguments)
    finally:
        subprocess.run(["bash", "-ec", after], check=True)


def _enter_private_namespaces() -> None:
    """As ``unshare --user --map-root-user --mount`` does."""
    maps = {"setgroups": "deny", "uid_map": f"0 {os.geteuid()} 1", "gid_map": f"0 {os.getegid()} 1"}
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "there are no namespaces for users here")
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text)


def ended(process: Process, seconds: float = 300) -> Result:
    """Wait for the end of a command."""
    output, complaints = process.communicate(timeout=seconds)
    assert process.returncode is not None
    return Result(process.returncode, output, complaints)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: it does not hold in time.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)
