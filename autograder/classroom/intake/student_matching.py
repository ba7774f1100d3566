"""Matches what names of files and folders claim with the students of the class. Nothing is guessed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from autograder.classroom.file_owners import FILE_OWNERS, file_key
from autograder.classroom.students import Student, id_problem

FROM_WORKSHEET = ", or give grade Moodle's grading worksheet as well, by --worksheet"
"""Another way to say whose the files are that Moodle gives."""
ADD_OR_LEAVE = "add them to the roster (if they have left the class, there is nothing to do)"


class UnknownStudentError(Exception):
    """A claim that names no student, or more than one. One line: what the claim is, and what to do."""


@dataclass(frozen=True)
class Claim:
    """What the name of a file or folder says about who handed it in, and when.

    Attributes:
        shown: the claim as shown in messages.
        lms_id: the student's id in the LMS.
        ids: texts one of which should be an id, a user name, or an email address.
        name: first and last name, in any order; if ``squashed``, with no characters between the letters.
        derived: the id that the student gets in a class without a roster; empty if no id can be derived.
        unit: texts that may name the unit, the most reliable first.
        stated: whether the first of these texts says for which unit this was handed in, whatever the notebook says.
        time: when it was handed in, in UTC.
        attempt: a number that is greater for a later attempt.
        form: the LMS whose form of names this is; empty for a plain name.
        refused: why the claim cannot name a student of any class; empty if it can.
        reply_prefix: how the names of feedback files must begin for the LMS to return them to this student; empty if the LMS
            returns no feedback.
        person: distinguishes two people with the same name in the same folder.
        keys: numbers and names that the LMS has given, by which the class's table of files may know the student.
        late: whether the LMS says that it was late; None if it says nothing about that.
    """

    shown: str
    lms_id: str = ""
    ids: tuple[str, ...] = ()
    name: str = ""
    squashed: bool = False
    derived: str = ""
    unit: tuple[str, ...] = ()
    stated: bool = False
    time: datetime | None = None
    attempt: int = 0
    form: str = ""
    refused: str = ""
    reply_prefix: str = ""
    person: str = ""
    keys: tuple[str, ...] = ()
    late: bool | None = None


class Students:
    """The students of a class.

    Args:
        students: those whom the gradebook knows.
        roster: whether these are all students; if not, others get an id derived from the names of their files.
        file_owners: ids by what :func:`autograder.classroom.file_owners.file_key` makes of numbers and names of files.
        table: the path of the table in which these are, for messages.
    """

    def __init__(
        self, students: Iterable[Student], roster: bool, file_owners: Mapping[str, str] = MappingProxyType({}), table: str = ""
    ):
        self.all = tuple(student for student in students if not id_problem(student.id))
        self.roster = roster
        self._ids = {student.id for student in self.all}
        self._keys = [(student, _Keys(student)) for student in self.all]
        self._named: dict[tuple[str, bool], list[Student]] = {}
        self._file_owners, self.table = file_owners, table or FILE_OWNERS.name

    def assigned(self, keys: Iterable[str]) -> str | None:
        """The id of the student to whom the class's table of files gives one of these numbers or names; None if it does not.

        Raises:
            UnknownStudentError: the student is not in the class.
        """
        key = next((key for text in keys if (key := file_key(text)) in self._file_owners), None)
        student = self._file_owners[key] if key else None
        if student and self.roster and student not in self._ids:
            raise UnknownStudentError(f"{self.table} gives {key!r} to {student!r}, who is not in the class; correct it there")
        return student

    def line_to_add(self, claim: Claim, candidates: Sequence[Student] = ()) -> str:
        """What to add to the class's table of files if somebody knows whose the file is; empty if the LMS gives no number."""
        if not claim.keys:
            return ""
        lines = [f"{claim.keys[0]},{student.id}" for student in candidates] or [f"{claim.keys[0]},ID"]
        return f"; or add the line {' or '.join(lines)} to {self.table}{FROM_WORKSHEET if claim.form == 'Moodle' else ''}"

    def owner(self, claim: Claim) -> str:
        """The id of the student whom a claim names.

        Raises:
            UnknownStudentError: there is no such student, or several.
        """
        if claim.refused:
            raise UnknownStudentError(claim.refused + self.line_to_add(claim))
        found = self._by_lms_id(claim.lms_id) or self.by_ids(claim.ids) or self._by_name(claim)
        if len(found) > 1:
            number = f", or give one of them the lms_user_id {claim.lms_id} in the roster" if claim.lms_id else ""
            line = self.line_to_add(claim, found)
            raise UnknownStudentError(
                f"{claim.shown!r} may be {_listed(found)}; name it after the id of one of them{number}{line}"
            )
        if found:
            known = found[0].lms_user_id
            if claim.lms_id and known.isdecimal() and known != claim.lms_id:  # an id with letters is from another LMS
                who = f"{claim.shown!r} is the name of {found[0].id!r}"
                raise UnknownStudentError(f"{who}, but the LMS's number {claim.lms_id} is not; name it after a student's id")
            return found[0].id
        if not self.roster and claim.derived:
            if reason := id_problem(claim.derived):
                raise UnknownStudentError(f"{reason}; name it after a student's id")
            return next((known for known in self._ids if known.casefold() == claim.derived.casefold()), claim.derived)
        if not self.roster:
            raise UnknownStudentError(
                "no student can be told from its name; name it after a student's id, or give the class a roster"
            )
        raise UnknownStudentError(
            f"no student of the class is called {claim.shown!r}; rename it after an id, or {ADD_OR_LEAVE}"
            + self.line_to_add(claim)
        )

    def named(self, text: str, alone: bool = False) -> str | None:
        """The id of the student named in a plain name, possibly with other words before or after; None if no student is named.

        Args:
            text: the name.
            alone: whether other words are not allowed.

        Raises:
            UnknownStudentError: it may be one of several students.
        """
        if (text, alone) not in self._named:
            whole = self.by_ids((text,)) or self._by_name(Claim(text, name=text))
            self._named[text, alone] = whole or ([] if alone else self._in_words(_words(text)))
        found = self._named[text, alone]
        if len(found) > 1:
            raise UnknownStudentError(f"{text!r} may be {_listed(found)}; name it after the id of one of them")
        return found[0].id if found else None

    def _by_lms_id(self, lms_id: str) -> list[Student]:
        return [student for student in self.all if lms_id and student.lms_user_id.casefold() == lms_id.casefold()]

    def by_ids(self, texts: Sequence[str]) -> list[Student]:
        """Students whose id is one of the texts; else the same ignoring case; else those by email address or LMS id."""
        wanted = {text.casefold() for text in texts if text}
        for found in (
            [student for student in self.all if student.id in texts],
            [student for student in self.all if student.id.casefold() in wanted],
            [student for student, keys in self._keys if wanted & keys.other_ids],
        ):
            if found:
                return found
        return []

    def _by_name(self, claim: Claim) -> list[Student]:
        key = tuple(_words(claim.name))
        if claim.squashed:
            return [student for student, keys in self._keys if key and "".join(key) in keys.squashed]
        return [student for student, keys in self._keys if key and key in keys.names]

    def _in_words(self, words: Sequence[str]) -> list[Student]:
        """Students whose id, user name or full name is at the start or the end of some words."""
        ends = {end for size in range(1, len(words) + 1) for end in (tuple(words[:size]), tuple(words[-size:]))}
        return [student for student, keys in self._keys if ends & keys.distinctive]


class _Keys:
    """What a student is recognised by, in lower case and without accents.

    Attributes:
        other_ids: the email address, the part before its @, and the LMS id. An id may be an address as well.
        names: first and last name as words, in either order; of a student with one name, that one.
        squashed: the same with nothing between the letters.
        distinctive: names and ids that identify the student even among other words: all but short numbers, single letters, and
            a first name alone.
    """

    def __init__(self, student: Student):
        email = student.email.casefold()
        texts = (email, email.partition("@")[0], student.user_name.casefold(), student.lms_user_id.casefold())
        self.other_ids = {text for text in texts if text}
        first, last = _words(student.first_name), _words(student.last_name)
        self.names = {name for name in ((*first, *last), (*last, *first)) if name}
        self.squashed = {"".join(name) for name in self.names}
        words = (self.names if last else set()) | {tuple(_words(text)) for text in (student.id, *self.other_ids)}
        self.distinctive = {name for name in words if len("".join(name)) > 1 and not _short_number("".join(name))}


_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def _words(text: str) -> list[str]:
    """The words of a text, in lower case and without accents."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter))
    return re.findall(r"[^\W_]+", plain.translate(_LETTERS).replace("'", "").replace("’", ""))


def _short_number(text: str) -> bool:
    """Whether a text could also be the number of a unit, a week or an attempt."""
    return text.isdecimal() and len(text) < 5


def _listed(students: Sequence[Student]) -> str:
    return " or ".join(f"{student.id!r}" for student in students)
