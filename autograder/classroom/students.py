"""A student, and which ids nbgrader can work with."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_ID = 128
"""Characters of an id; nbgrader's gradebook keeps as many."""


@dataclass(frozen=True)
class Student:
    """A student of a class, as a roster and the gradebook know them.

    Attributes:
        id: names the student's directory in ``submitted/``.
        first_name, last_name, email: empty if they are not known.
        lms_user_id: what the LMS calls the student in names of files: Canvas's number, a GitHub user name.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """To show; the id if there is nothing better."""
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def sort_key(self) -> tuple[str, ...]:
        return ((self.last_name or self.id).casefold(), self.first_name.casefold(), self.id)


def id_problem(student_id: str) -> str:
    """Why a text cannot be a student's id; empty if it can. An id names a directory, so it may not lead anywhere else."""
    if not student_id:
        return "no id"
    if len(student_id) > LONGEST_ID or len(student_id.encode(errors="replace")) > 255 - len(".unfinished"):
        return f"the id {student_id[:20] + '…'!r} is longer than {LONGEST_ID} characters"
    if not re.fullmatch(r"[\w@][\w@.-]*", student_id):
        return f"the id {student_id!r} cannot name a directory; use letters, digits and _ @ . -"
    return ""
