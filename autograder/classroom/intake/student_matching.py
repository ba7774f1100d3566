"""Whose file it is: what names of files and folders claim, against the students of the class. Nothing is ever guessed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from autograder.classroom.students import Student, id_problem


class NobodyError(Exception):
    """A claim that names no student, or more than one. One line: what it says, and what to do."""


@dataclass(frozen=True)
class Claim:
    """What a name says of who handed in, and when.

    Attributes:
        shown: the claim as words.
        lms_id: what the LMS calls them.
        ids: texts of which one should be an id, a user name, or an email address.
        name: first and last name, in any order; without anything between its letters if it is ``squashed``.
        derived: the id they get in a class without a roster; empty if there should be none.
        unit: texts in which the unit may be named, the one that is believed most first.
        stated: whether the first of them says which unit this was handed in for, whatever the notebook says.
        time: when it was handed in.
        attempt: goes up with every attempt.
        form: whose form of names this is; empty if the name is a plain one.
        refused: why nobody can be told by it, whoever is in the class; empty if somebody may be.
        reply: what the name of a file begins with that the LMS gives back to whom this is from; empty if it gives none back.
        person: tells apart two people of one name, among what lies in one folder.
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
    reply: str = ""
    person: str = ""


class Students:
    """The students of a class.

    Args:
        students: those the gradebook knows.
        roster: whether these are all; otherwise others get an id that is derived from what names say.
    """

    def __init__(self, students: Iterable[Student], roster: bool):
        self.all = tuple(student for student in students if not id_problem(student.id))
        self.roster = roster
        self._ids = {student.id for student in self.all}
        self._keys = [(student, _Keys(student)) for student in self.all]
        self._named: dict[tuple[str, bool], list[Student]] = {}

    def owner(self, claim: Claim) -> str:
        """The id of the student a claim is about.

        Raises:
            NobodyError: there is none, or there are several.
        """
        if claim.refused:
            raise NobodyError(claim.refused)
        found = self._lms(claim.lms_id) or self._by_ids(claim.ids) or self._by_name(claim)
        if len(found) > 1:
            number = f", or give one of them the lms_user_id {claim.lms_id} in the roster" if claim.lms_id else ""
            raise NobodyError(f"{claim.shown!r} may be {_listed(found)}; name it after the id of one of them{number}")
        if found:
            known = found[0].lms_user_id
            if claim.lms_id and known.isdecimal() and known != claim.lms_id:  # what is no number, another LMS calls them
                who = f"{claim.shown!r} is the name of {found[0].id!r}"
                raise NobodyError(f"{who}, but the LMS's number {claim.lms_id} is not; name it after a student's id")
            return found[0].id
        if not self.roster and claim.derived:
            if reason := id_problem(claim.derived):
                raise NobodyError(f"{reason}; name it after a student's id")
            return next((known for known in self._ids if known.casefold() == claim.derived.casefold()), claim.derived)
        if not self.roster:
            raise NobodyError("no student can be told from its name; name it after a student's id, or give the class a roster")
        raise NobodyError(
            f"no student of the class is called {claim.shown!r}; add them to the roster, or rename it after an id"
        )

    def named(self, text: str, alone: bool = False) -> str | None:
        """The id of the student who is named in a plain name, perhaps with other words before or after; None for nobody.

        Args:
            text: the name.
            alone: whether there may be no other words.

        Raises:
            NobodyError: it may be one of several.
        """
        if (text, alone) not in self._named:
            whole = self._by_ids((text,)) or self._by_name(Claim(text, name=text))
            self._named[text, alone] = whole or ([] if alone else self._in_words(_words(text)))
        found = self._named[text, alone]
        if len(found) > 1:
            raise NobodyError(f"{text!r} may be {_listed(found)}; name it after the id of one of them")
        return found[0].id if found else None

    def _lms(self, lms_id: str) -> list[Student]:
        return [student for student in self.all if lms_id and _same(student.lms_user_id, lms_id)]

    def _by_ids(self, texts: Sequence[str]) -> list[Student]:
        """Those of whom a text is the id; else the id but for capitals; else the email address or what LMSs call them."""
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
        """Those whose id, user name or full name stands at the start or the end of some words."""
        ends = {end for size in range(1, len(words) + 1) for end in (tuple(words[:size]), tuple(words[-size:]))}
        return [student for student, keys in self._keys if ends & keys.telling]


class _Keys:
    """What a student is recognised by, without capitals and accents.

    Attributes:
        other_ids: the email address, what stands before its @, and what LMSs call them.
        names: first and last name as words, in either order.
        squashed: the same with nothing between the letters.
        telling: what also tells them among other words, because it is no mere number or letter.
    """

    def __init__(self, student: Student):
        email = student.email.casefold()
        self.other_ids = {text for text in (email, email.partition("@")[0], student.lms_user_id.casefold()) if text}
        first, last = _words(student.first_name), _words(student.last_name)
        self.names = {(*first, *last), (*last, *first)} if last else set()
        self.squashed = {"".join(name) for name in self.names}
        texts = self.names | {tuple(_words(text)) for text in (student.id, *self.other_ids)}
        self.telling = {text for text in texts if len("".join(text)) > 1 and not _short_number("".join(text))}


_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def _words(text: str) -> list[str]:
    """The words of a text without capitals and accents."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter))
    return re.findall(r"[^\W_]+", plain.translate(_LETTERS).replace("'", "").replace("’", ""))


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _short_number(text: str) -> bool:
    """Whether this could as well be the number of a unit, a week or an attempt."""
    return text.isdecimal() and len(text) < 5


def _listed(students: Sequence[Student]) -> str:
    return " or ".join(f"{student.id!r}" for student in students)
