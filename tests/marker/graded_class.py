"""Classes that are marked with ``gradaccum classroom grade``, and looks at what that left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from autograder.classroom.commands import app

UNIT = "03_accumulate"
FULL = 10.0


class GradedClass:
    """A class with one unit, released. Commands run in this process, but for those that a test wants to see die.

    Args:
        root: an empty folder.
        scheduler: of workers that are warm already.
        options: of ``init``.
    """

    def __init__(self, root: Path, scheduler: str, *options: str, unit: str = UNIT):
        self.root, self.directory, self.scheduler, self.unit = root, root / "class", scheduler, unit
        self.do("init", "--units", unit[:2], *options)
        self.do("release", "--units", unit[:2])
        self.right = (self.directory / "source" / unit / f"{unit}.ipynb").read_bytes()
        self.untouched = (self.directory / "release" / unit / f"{unit}.ipynb").read_bytes()

    def hand_in(self, student: str, content: bytes) -> Path:
        place = self.directory / "submitted" / student / self.unit
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{self.unit}.ipynb").write_bytes(content)
        return place / f"{self.unit}.ipynb"

    def hand_in_many(self, number: int) -> dict[str, float]:
        """Right and untouched notebooks in turn; the marks that are due."""
        due = {}
        for k in range(number):
            student = f"student{k:02}"
            self.hand_in(student, self.untouched if k % 3 == 2 else self.right)
            due[student] = 0.0 if k % 3 == 2 else FULL
        return due

    def do(self, command: str, *options: str, status: int = 0) -> Graded:
        """Run a command of ``gradaccum classroom`` on this class; it has to end with this status."""
        result = CliRunner().invoke(app, [command, str(self.directory), *options])
        graded = Graded(result.exit_code, result.stdout, result.stderr)
        assert result.exit_code == status, (graded, result.exc_info)
        return graded

    def grade(self, *options: str, status: int = 0) -> Graded:
        return self.do("grade", "--scheduler", self.scheduler, *options, status=status)

    def command(self, *options: str) -> list[str]:
        return [str(Path(sys.executable).with_name("gradaccum")), "classroom", "grade", str(self.directory), *options]

    def start(self, *options: str, before: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> subprocess.Popen:
        """Start ``grade`` as a process of its own; its output can be read when it has ended, see :func:`ended`."""
        where = () if "--workers" in options or "--scheduler" in options else ("--scheduler", self.scheduler)
        return subprocess.Popen(
            [*before, *self.command(*where, *options)],
            env=os.environ | (environment or {}),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def scores(self, url: str = "") -> dict[str, float]:
        """What the gradebook says, by student."""
        from nbgrader.api import Gradebook

        with Gradebook(url or f"sqlite:///{self.directory}/gradebook.db") as gradebook:
            submissions = gradebook.assignment_submissions(self.unit)
            assert len(submissions) == len({one.student_id for one in submissions})
            return {one.student_id: one.score for one in submissions}

    def marks(self) -> dict[str, tuple[int, int]]:
        """The files of marks there are; a file that is written again gets another inode or time."""
        files = (self.directory / "marks").glob(f"*/{self.unit}.json")
        return {path.parent.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    def wait_for_marks(self, process: subprocess.Popen, number: int, seconds: float = 120) -> None:
        """Wait until so many submissions are marked."""
        wait_for(lambda: len(self.marks()) >= number or process.poll() is not None, seconds)

    def left_unfinished(self) -> list[Path]:
        return [path for path in self.directory.rglob("*") if ".unfinished" in path.name]


class Graded:
    """How ``grade`` ended."""

    def __init__(self, status: int, said: str, complained: str):
        self.status, self.said, self.complained = status, said, complained

    def __repr__(self) -> str:
        return f"exit status {self.status}\n{self.said}\n{self.complained}"


def ended(process: subprocess.Popen, seconds: float = 300) -> Graded:
    """Wait for a command's end."""
    said, complained = process.communicate(timeout=seconds)
    return Graded(process.returncode, said, complained)


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it is not.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def as_user(name: str) -> dict:
    """Options for a process that root must not run itself."""
    return {"user": name} if os.geteuid() == 0 else {}
