"""A file that was handed in → whose it is, which unit it answers, and which of several attempts it is."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from autograder.classroom.intake.file_names import (
    claims,
    ending_removed,
    is_notebook,
    own_words,
    stem,
    unit_named,
    utc,
    without_unit,
)
from autograder.classroom.intake.sources import SourceFile, UnreadableFileError, is_archive
from autograder.classroom.intake.student_matching import Claim, NobodyError, Students
from autograder.contract.units import UNITS
from autograder.reading.submissions import SubmissionError, parse_submission

LARGEST_PARSED = 16 * 2**20
"""Bytes of a notebook that is parsed to find out which unit it is, if nothing else tells."""

LARGEST_DESCRIPTION = 32 * 2**20
"""Bytes of a submission_metadata.yml."""

_UNIT = re.compile(rb'"gradaccum"\s{0,99}:\s{0,99}\{[^{}]{0,500}?"unit"\s{0,99}:\s{0,99}"(\d\d_[a-z0-9_]{1,60})"')
_OVERLAP = 1000


class NoUnitError(Exception):
    """A notebook of which nothing says which unit it answers. One line: what to do."""


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    Attributes:
        students: ids; several for a group.
        claim: what said so; the name alone if it was no LMS's.
        place: of the name that said so, among the parts of the file.
        derived: whether the id was made of a name of the student's choosing, in a class without a roster.
    """

    students: tuple[str, ...]
    claim: Claim
    place: int
    derived: bool = False


@dataclass(frozen=True)
class Attempt:
    """A notebook that was handed in.

    Attributes:
        unit: which it answers.
        stated: which it was handed in for, if that is known; None otherwise.
        digest: of its bytes.
        time: when it was handed in, in UTC, if that is known.
        order: greater for a later attempt.
    """

    file: SourceFile
    owner: Owner
    unit: str
    stated: str | None
    digest: str
    time: datetime | None
    order: tuple


class Reader:
    """Makes attempts of the files of a source.

    Args:
        files: all of them, because what lies beside a file helps to understand its name.
        students: of the class.
        unit: what notebooks answer that do not say so themselves.
    """

    def __init__(self, files: Sequence[SourceFile], students: Students, unit: str | None):
        self._students, self._unit = students, unit
        self._siblings: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for file in files:
            for place in range(len(file.parts) - (not is_notebook(file.parts[-1]))):
                self._siblings[file.parts[:place]].add(file.parts[place])
        self._beside = {file.parts: file for file in files if file.parts[-1] in ("submission_metadata.yml", "timestamp.txt")}
        self._described = cache(self._read_description)
        self._names_students = cache(self._any_student_in)

    def owner(self, file: SourceFile) -> Owner:
        """Whose a file is: the outermost name that says so counts, since a student may have chosen those inside.

        Raises:
            NobodyError: it is nobody's, or may be several students'.
        """
        for place, name in enumerate(file.parts):
            inside, last = file.parts[:place], place == len(file.parts) - 1
            if found := claims(name, self._described(inside)):
                return Owner(tuple(dict.fromkeys(self._students.owner(claim) for claim in found)), found[0], place)
            repository = not last and bool(unit_named(name))  # of which the student has chosen what follows the unit
            if (student := self._students.named(_plain(name), alone=repository)) is not None:
                return Owner((student,), Claim(name), place)
            if not last and _plain(name) and self._students.roster and self._names_students(inside):
                beside = "as names beside it do; rename it after the student's id, or add them to the roster"
                raise NobodyError(f"the folder {name!r} names no student of the class, {beside}")
        if self._students.roster:
            raise NobodyError("no student of the class is named in it; rename it after the student's id")
        place, name = _naming(file.parts)
        derived = Claim(name, derived=name)
        return Owner((self._students.owner(derived),), derived, place, derived=True)

    def attempt(self, file: SourceFile, owner: Owner) -> Attempt:
        """Read a notebook.

        Raises:
            UnreadableFileError: that is not possible.
            NoUnitError: it is not known which unit it answers.
        """
        digest, written = _digest_and_unit(file.chunks())
        stated = self._stated(file, owner)
        unit = written or stated or self._named_unit(file, owner) or self._unit or _unit_of_cells(file)
        if unit is None:
            problem = "nothing says which unit it is"
            raise NoUnitError(f"{problem}; rename it after its unit, such as 04_training_loop.ipynb, or give --units")
        time = owner.claim.time or self._time_beside(file, owner)
        name, copy = stem(file.parts[-1])
        as_released = name.endswith(unit) and not copy
        order = (time or datetime.min, owner.claim.attempt, 0 if stated else copy, as_released, file.modified, file.number)
        return Attempt(file, owner, unit, stated, digest, time, (*order, file.parts))

    def _stated(self, file: SourceFile, owner: Owner) -> str | None:
        """The unit that a file was handed in for, as far as others than the student say so.

        These are the exchange, folders around those of students, a repository's name, and nbgrader's ``STUDENT/UNIT/``.
        """
        if owner.claim.stated:
            return unit_named(owner.claim.unit[0])
        folders = file.parts[:-1]
        said = [name for name in folders[: owner.place] if not _plain(name)]
        if not owner.claim.form:
            said += [name for name in folders[owner.place : owner.place + 1] if unit_named(ending_removed(name))]
            said += [name for name in folders[owner.place + 1 : owner.place + 2] if not _plain(name)]
        return next((unit for unit in (unit_named(ending_removed(name)) for name in reversed(said)) if unit), None)

    def _named_unit(self, file: SourceFile, owner: Owner) -> str | None:
        """The unit that is named in names, the innermost first."""
        texts: list[str] = []
        for place in reversed(range(len(file.parts))):
            texts += (owner.claim.unit if place == owner.place else ()) or (file.parts[place],)
        return next((unit for unit in (unit_named(stem(text)[0]) for text in texts) if unit), None)

    def _time_beside(self, file: SourceFile, owner: Owner) -> datetime | None:
        """What nbgrader has written beside a notebook that it collected; what a student has packed is not believed."""
        beside = self._beside.get((*file.parts[:-1], "timestamp.txt"))
        collected = not owner.claim.form and len(file.parts) == owner.place + 3 and not _plain(file.parts[-2])
        if beside is None or not collected or is_archive(file.parts[owner.place]):
            return None
        with contextlib.suppress(UnreadableFileError, UnicodeDecodeError):
            return utc(next(beside.chunks(), b"")[:200].decode())
        return None

    def _read_description(self, inside: tuple[str, ...]) -> Mapping[str, Any]:
        """What Gradescope says of the submissions in a folder."""
        beside = self._beside.get((*inside, "submission_metadata.yml"))
        content = b""
        with contextlib.suppress(UnreadableFileError):
            for chunk in beside.chunks() if beside else ():
                content += chunk
                if len(content) > LARGEST_DESCRIPTION:
                    return {}
        return _yaml_mapping(content)

    def _any_student_in(self, inside: tuple[str, ...]) -> bool:
        return any(self._names_student(name, inside) for name in self._siblings[inside])

    def _names_student(self, name: str, inside: tuple[str, ...]) -> bool:
        try:
            return bool(claims(name, self._described(inside))) or self._students.named(_plain(name)) is not None
        except NobodyError:
            return True


def _plain(name: str) -> str:
    return without_unit(ending_removed(name))


def _naming(parts: Sequence[str]) -> tuple[int, str]:
    """Which name tells the student where there is no roster, and what of it: ``STUDENT/UNIT/…``, ``STUDENT/…`` or a file's.

    Raises:
        NobodyError: it may be one of several.
    """
    folders = [(place, _plain(name)) for place, name in enumerate(parts[:-1])]
    above = [folders[place - 1] for place, name in folders if place and not name and folders[place - 1][1]]
    named = above[:1] or [folder for folder in folders if folder[1]]
    if len(named) > 1:
        raise NobodyError("it is not clear which folder names the student; give the class a roster, or name STUDENT/UNIT/FILE")
    return named[0] if named else (len(parts) - 1, own_words(parts[-1]) if is_notebook(parts[-1]) else "")


def _digest_and_unit(chunks: Iterable[bytes]) -> tuple[str, str | None]:
    """The digest of a file, and the unit the release wrote into it: looked for, not parsed, so that damage does not matter."""
    digest, tail, found = hashlib.sha256(), b"", set()
    for chunk in chunks:
        digest.update(chunk)
        window = tail + chunk
        found |= {match.decode() for match in _UNIT.findall(window)}
        tail = window[-_OVERLAP:]
    units = found & set(UNITS)
    return digest.hexdigest(), units.pop() if len(units) == 1 else None


def _unit_of_cells(file: SourceFile) -> str | None:
    """The unit whose exercises stand in a notebook."""
    content = b""
    for chunk in file.chunks():
        content += chunk
        if len(content) > LARGEST_PARSED:
            return None
    with contextlib.suppress(SubmissionError):
        return parse_submission(Path("notebook.ipynb"), content).unit
    return None


def _yaml_mapping(content: bytes) -> Mapping[str, Any]:
    """A YAML document all of whose values are text; empty if it is none, or deeper than anything an LMS writes."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    depth = 0
    try:
        for event in yaml.parse(content, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > 50:
                return {}
        document = yaml.load(content, Loader=loader)
    except (yaml.YAMLError, ValueError, TypeError):
        return {}
    return document if isinstance(document, Mapping) else {}
