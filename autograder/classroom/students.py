"""A student of a class, and which ids nbgrader can work with."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_ID_LENGTH = 128
"""Characters of a student's id: nbgrader's gradebook stores no more."""

MAX_FILE_NAME_BYTES = 255 - len(".unfinished")
"""Bytes of an id: it names files, and while a file is being written its name is longer by this suffix."""

LATE_MARK = "late.txt"
"""Beside a notebook in ``submitted/``: the LMS says that it was late, but not when it was handed in."""

IN_TIME_MARK = "in_time.txt"
"""Likewise: the LMS or the instructor says that it was not late."""

MOODLE_MARK = "from_moodle.txt"
"""Beside a notebook: the number under which Moodle gave it, and under which Moodle's grading worksheet says when it came."""

TIME_FILE = "timestamp.txt"
"""Beside a notebook: when it was handed in. nbgrader writes and reads such files, too."""


@dataclass(frozen=True)
class Student:
    """A student of a class, as a roster and the gradebook know them.

    Attributes:
        id: the name of the student's directory in ``submitted/``.
        first_name, last_name, email: empty if they are not known.
        lms_user_id: what the LMS calls the student in file names: Canvas's number, or a GitHub user name.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """The name to show: first and last name, or the id if neither is known."""
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def user_name(self) -> str:
        """What stands before the @ of the email address, or of the id if that is an address; empty if there is none."""
        address = self.id if "@" in self.id else self.email
        return address.partition("@")[0]

    @property
    def sort_key(self) -> tuple[str, ...]:
        return ((self.last_name or self.id).casefold(), self.first_name.casefold(), self.id)


def is_canvas_test_student(name: str) -> bool:
    """Whether this is what Canvas calls its test student in a file that it exported in English."""
    return " ".join(name.casefold().replace(",", ", ").split()) in ("student, test", "test student")


def id_problem(student_id: str) -> str:
    """Why a text cannot be a student's id; empty if it can. An id names a directory, so it must not lead to another one."""
    if not student_id:
        return "no id"
    if len(student_id) > MAX_ID_LENGTH or len(student_id.encode(errors="replace")) > MAX_FILE_NAME_BYTES:
        return f"the id {student_id[:20] + '…'!r} is longer than {MAX_ID_LENGTH} characters"
    if not re.fullmatch(r"[\w@][\w@.-]*", student_id):
        return f"the id {student_id!r} cannot name a directory; use letters, digits and _ @ . -"
    return ""
