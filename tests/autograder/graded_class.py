"""Classes that are marked with ``gradaccum classroom grade``, and looks at what that left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from nbgrader_class import Course

UNIT = "03_accumulate"
FULL = 10.0


class GradedClass(Course):
    """A class with one unit, released."""

    def __init__(self, root: Path, *options: str, unit: str = UNIT):
        super().__init__(root, *options)
        self.unit = unit
        self.run("gradaccum", "classroom", "release", ".", "--units", unit)
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

    def command(self, *options: str) -> list[str]:
        return [str(Path(sys.executable).with_name("gradaccum")), "classroom", "grade", str(self.directory), *options]

    def start(self, *options: str, **more) -> subprocess.Popen:
        """Start ``grade``; its output can be read when it has ended."""
        return subprocess.Popen(
            self.command(*options),
            env=self.environment | more.pop("environment", {}),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def grade(self, *options: str, **more) -> Graded:
        return ended(self.start(*options, **more))

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
