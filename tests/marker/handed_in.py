"""Files as students, LMSs and nbgrader hand them in, and a class that receives them."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

from plain_notebook import notebook

from autograder.classroom.intake.collect_submissions import IntakeResult, take_in
from autograder.classroom.intake.student_matching import Students
from autograder.classroom.intake.submitted_store import SubmittedStore
from autograder.classroom.students import Student

UNIT, OTHER = "04_training_loop", "03_accumulate"
ROSTER = (
    Student("ada", "Ada", "Lovelace", "a.lovelace@example.org", "12345"),
    Student("bob", "Bób", "O'Brien-Smith", "bob@example.org", "octobob"),
    Student("chi1", "Chi", "Minh", "chi.one@example.org"),
    Student("chi2", "Chi", "Minh", "chi.two@example.org"),
    Student("s-1", "Søren", "Żak"),
)
TIME = "2026-11-21 10:00:00.000000 UTC"


def work(text: str = "x = 1", unit: str | None = UNIT) -> bytes:
    return json.dumps(notebook(text, unit=unit)).encode()


def fill(place: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return place


def packed(path: Path, files: dict[str, bytes] | list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, content)
    return path


class BareClass:
    """A class without nbgrader: its students, and the folders for what they hand in."""

    def __init__(self, place: Path, students: tuple[Student, ...] = ROSTER):
        self.place, self.students = place, Students(students, roster=bool(students))
        self.submitted, self.earlier = place / "class/submitted", place / "class/submitted-earlier"
        self.store = SubmittedStore(lambda s, u: self.submitted / s / u, lambda s, u: self.earlier / s / u)

    def take(self, files: dict[str, bytes] | Path, unit: str | None = None) -> IntakeResult:
        """Collect files, given by path and content or as an existing source."""
        source = files if isinstance(files, Path) else fill(self.place / f"source{len(os.listdir(self.place))}", files)
        return take_in(source, self.students, self.store, unit)

    def has(self, student: str, unit: str = UNIT) -> bytes | None:
        place = self.submitted / student / unit / f"{unit}.ipynb"
        return place.read_bytes() if place.exists() else None

    def time(self, student: str, unit: str = UNIT) -> str:
        place = self.submitted / student / unit / "timestamp.txt"
        return place.read_text().strip() if place.exists() else ""

    def everything(self) -> dict[str, tuple[bytes, int]]:
        files = [path for path in (self.place / "class").rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


GRADESCOPE = b"""---
submission_71:
  :submitters:
  - :name: Ada L.
    :sid: '001'
    :email: a.lovelace@example.org
  - :name: "B\xc3\xb3b O'Brien-Smith"
    :email: nobody@example.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone 2026-11-21 11:30:00.000000000 +01:00
  :score: 3.0
"""
