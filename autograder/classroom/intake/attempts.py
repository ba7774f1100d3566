"""Finds out who handed a file in, which unit it answers, and which of several attempts it is."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from autograder.classroom.deadlines import EXAMPLE, stamped
from autograder.classroom.intake.source_files import SourceFile, UnreadableFileError, is_archive
from autograder.classroom.intake.student_matching import ADD_OR_LEAVE, Claim, Students, UnknownStudentError
from autograder.classroom.intake.submission_filenames import (
    claims,
    ending_removed,
    is_notebook,
    stem,
    strip_lms_decoration,
    unit_named,
    without_unit,
)
from autograder.classroom.students import TIME_FILE
from autograder.contract.units import UNITS
from autograder.reading.file_formats import written_file
from autograder.reading.notebook_json import UnreadableError, what_it_is
from autograder.reading.submissions import SubmissionError, parse_submission

MAX_PARSED_BYTES = 16 * 2**20
"""Size of a notebook that is parsed to find out its unit, if nothing else tells."""

MAX_DESCRIPTION_BYTES = 32 * 2**20
"""Size of a submission_metadata.yml that is read."""

METADATA_FILES = ("submission_metadata.yml", TIME_FILE)

_UNIT = re.compile(rb'"gradaccum"\s{0,99}:\s{0,99}\{[^{}]{0,500}?"unit"\s{0,99}:\s{0,99}"(\d\d_[a-z0-9_]{1,60})"')
_OVERLAP = 1000  # bytes: more than _UNIT can match


class NoUnitError(Exception):
    """Nothing says which unit a notebook answers. One line: what to do."""


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    Attributes:
        students: ids; several for a group.
        claim: the claim that says so; only ``shown`` is set if the name is a plain one.
        place: the index of the name with the claim among the parts of the file's path.
        derived: whether the id was derived from a name that the student chose, in a class without a roster.
    """

    students: tuple[str, ...]
    claim: Claim
    place: int
    derived: bool = False


@dataclass(frozen=True)
class Attempt:
    """A notebook that was handed in.

    Attributes:
        file: the notebook.
        owner: the students who handed it in.
        unit: the unit it answers.
        stated: the unit it was handed in for, if that is known.
        digest: SHA-256 of its bytes, in hexadecimal digits.
        time: when it was handed in, in UTC, if that is known.
        order: a sort key, greater for a later attempt.
    """

    file: SourceFile
    owner: Owner
    unit: str
    stated: str | None
    digest: str
    time: datetime | None
    order: tuple[Any, ...]

    def unreadable(self) -> str:
        """Why nothing can be read in the notebook, in one line; empty if something can."""
        try:
            return unreadable(self.unit, self.file.chunks())
        except UnreadableFileError as error:  # it has changed since its digest was taken
            return str(error)


class AttemptReader:
    """Reads the files of a source as attempts.

    Args:
        files: all files of the source, because the files next to one help to understand its name.
        students: of the class.
        unit: the unit of notebooks that do not say which one they answer.
    """

    def __init__(self, files: Sequence[SourceFile], students: Students, unit: str | None):
        self._students, self.unit = students, unit
        self._siblings: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for file in files:
            for place in range(len(file.parts) - (not is_notebook(file.parts[-1]))):
                self._siblings[file.parts[:place]].add(file.parts[place])
        self._metadata_files = {file.parts: file for file in files if file.parts[-1] in METADATA_FILES}
        self._descriptions = cache(self._read_descriptions)
        self._folder_names_students = cache(self._any_student_in)

    def owner(self, file: SourceFile) -> Owner:
        """Whose a file is. The outermost name that says so counts, because the student may have chosen the names inside.

        Raises:
            UnknownStudentError: no student is named, or it may be one of several.
        """
        for place, name in enumerate(file.parts):
            inside, last = file.parts[:place], place == len(file.parts) - 1
            found = claims(name, self._descriptions(inside))
            keys = (name, ending_removed(name), *(found[0].keys if len(found) == 1 else ()))
            if (assigned := self._students.assigned(keys)) is not None:
                return Owner((assigned,), replace(found[0], person="") if found else Claim(name), place)
            if found:
                return Owner(tuple(dict.fromkeys(self._students.owner(claim) for claim in found)), found[0], place)
            repository = not last and bool(unit_named(name))  # the student has chosen what follows the unit
            try:
                student = self._students.named(_plain(name), alone=repository)
            except UnknownStudentError as error:
                line = f"{ending_removed(name)},ID"
                raise UnknownStudentError(f"{error}; or add the line {line} to {self._students.table}") from None
            if student is not None:
                return Owner((student,), Claim(name), place)
            if not last and _plain(name) and self._students.roster and self._folder_names_students(inside):
                advice = f"as names beside it do; rename it after the student's id, or {ADD_OR_LEAVE}"
                raise UnknownStudentError(f"the folder {name!r} names no student of the class, {advice}")
        if self._students.roster:
            raise UnknownStudentError(
                f"no student of the class is named in it; rename it after the student's id, or {ADD_OR_LEAVE}"
            )
        place, name = _name_of_student(file.parts)
        derived = Claim(name, derived=name)
        return Owner((self._students.owner(derived),), derived, place, derived=True)

    def attempt(self, file: SourceFile, owner: Owner) -> Attempt:
        """Read a notebook.

        Raises:
            UnreadableFileError: it cannot be read.
            NoUnitError: nothing says which unit it answers.
        """
        digest, released_unit = _digest_and_unit(file.chunks())
        stated = self._stated_unit(file, owner)
        unit = released_unit or stated or self._unit_in_names(file, owner) or self.unit or _unit_of_cells(file)
        if unit is None:
            problem = "nothing says which unit it is"
            raise NoUnitError(f"{problem}; rename it after its unit, such as 04_training_loop.ipynb, or give --units")
        time = owner.claim.time or self._collected_time(file, owner)
        name, copy = stem(file.parts[-1])
        as_released = name.endswith(unit) and not copy
        order = (time or datetime.min, owner.claim.attempt, 0 if stated else copy, as_released, file.modified, file.number)
        return Attempt(file, owner, unit, stated, digest, time, (*order, file.parts))

    def attempt_in_other_format(self, file: SourceFile, owner: Owner) -> Attempt:
        """Read a file that its name does not call a notebook: Python, Markdown, or a notebook without its ending.

        Raises:
            UnreadableFileError: it cannot be read, or nothing in it can be marked.
            NoUnitError: nothing says which unit it answers.
        """
        content = b""
        for chunk in file.chunks():
            content += chunk
            if len(content) > MAX_PARSED_BYTES:
                raise UnreadableFileError("is no notebook, and larger than one; ask for the .ipynb file")
        try:
            written_file(file.parts[-1], content)
        except UnreadableError as error:
            raise UnreadableFileError(f"{what_it_is(str(error))}; ask for the .ipynb file") from None
        return self.attempt(file, owner)

    def _stated_unit(self, file: SourceFile, owner: Owner) -> str | None:
        """The unit that a file was handed in for, if someone other than the student says so.

        The exchange, folders around those of students, a repository's name, and nbgrader's ``STUDENT/UNIT/`` say so.
        """
        if owner.claim.stated:
            return unit_named(owner.claim.unit[0])
        folders = file.parts[:-1]
        names = [name for name in folders[: owner.place] if not _plain(name)]
        if not owner.claim.form:
            names += [name for name in folders[owner.place : owner.place + 1] if unit_named(ending_removed(name))]
            names += [name for name in folders[owner.place + 1 : owner.place + 2] if not _plain(name)]
        return next((unit for unit in (unit_named(ending_removed(name)) for name in reversed(names)) if unit), None)

    def _unit_in_names(self, file: SourceFile, owner: Owner) -> str | None:
        """The unit in the names on the path; the innermost that names one counts."""
        texts: list[str] = []
        for place in reversed(range(len(file.parts))):
            texts += (owner.claim.unit if place == owner.place else ()) or (file.parts[place],)
        return next((unit for unit in (unit_named(stem(text)[0]) for text in texts) if unit), None)

    def _collected_time(self, file: SourceFile, owner: Owner) -> datetime | None:
        """The time that nbgrader wrote next to a notebook that it collected. A file that a student packed is ignored."""
        timestamp = self._metadata_files.get((*file.parts[:-1], TIME_FILE))
        collected = len(file.parts) == owner.place + 3 and not _plain(file.parts[-2])
        if timestamp is None or not collected or self._from_a_student(file.parts[: owner.place + 1]):
            return None
        with contextlib.suppress(UnreadableFileError, ValueError):
            return stamped(next(timestamp.chunks(), b"")[:200].decode())
        return None

    def unused_time(self, stamp: SourceFile, attempts: Iterable[Attempt]) -> str:
        """Why a time beside what was handed in is not used, and what to do; empty if it is, or a student put it there."""
        if self._from_a_student(stamp.parts[:-1]):
            return ""
        beside = [attempt for attempt in attempts if attempt.file.parts[:-1] == stamp.parts[:-1]]
        if any(attempt.time for attempt in beside):
            return ""
        if any(attempt.owner.place == len(stamp.parts) - 3 for attempt in beside):
            return f"holds no time; write it like {EXAMPLE}"
        return "is not used; a time counts beside its notebook in a folder STUDENT/UNIT, so put both there"

    def _from_a_student(self, folders: Sequence[str]) -> bool:
        """Whether what is in the innermost of these folders was packed by a student: an archive, a repository, an upload."""
        return any(
            is_archive(name)
            or bool(unit_named(name) and _plain(name))
            or bool(claims(name, self._descriptions(folders[:place])))
            for place, name in enumerate(folders)
        )

    def _read_descriptions(self, inside: tuple[str, ...]) -> Mapping[str, Any]:
        """What Gradescope says about the submissions in a folder, by submission."""
        description = self._metadata_files.get((*inside, "submission_metadata.yml"))
        content = b""
        with contextlib.suppress(UnreadableFileError):
            for chunk in description.chunks() if description else ():
                content += chunk
                if len(content) > MAX_DESCRIPTION_BYTES:
                    return {}
        return _yaml_mapping(content)

    def _any_student_in(self, inside: tuple[str, ...]) -> bool:
        return any(self._names_student(name, inside) for name in self._siblings[inside])

    def _names_student(self, name: str, inside: tuple[str, ...]) -> bool:
        try:
            return bool(claims(name, self._descriptions(inside))) or self._students.named(_plain(name)) is not None
        except UnknownStudentError:
            return True


def unreadable(unit: str, chunks: Iterable[bytes]) -> str:
    """Why nothing of a file can be marked, in one line; empty if something can, or if the file is too large to tell.

    Args:
        unit: which the file answers.
        chunks: its bytes.
    """
    content = b""
    for chunk in chunks:
        content += chunk
        if len(content) > MAX_PARSED_BYTES:
            return ""
    try:
        parse_submission(Path(f"{unit}.ipynb"), content, unit)
    except SubmissionError as error:
        return what_it_is(str(error)).removeprefix(f"{unit}.ipynb: ")
    return ""


def _plain(name: str) -> str:
    """A name without its ending and its unit."""
    return without_unit(ending_removed(name))


def _name_of_student(parts: Sequence[str]) -> tuple[int, str]:
    """The index and the text of the name that tells the student where there is no roster.

    That is STUDENT in ``STUDENT/UNIT/…`` or ``STUDENT/…``, or else the name of the file.

    Raises:
        UnknownStudentError: it may be one of several names.
    """
    folders = [(place, _plain(name)) for place, name in enumerate(parts[:-1])]
    above = [folders[place - 1] for place, name in folders if place and not name and folders[place - 1][1]]
    named = above[:1] or [folder for folder in folders if folder[1]]
    if len(named) > 1:
        raise UnknownStudentError(
            "it is not clear which folder names the student; give the class a roster, or name STUDENT/UNIT/FILE"
        )
    if named:
        return named[0]
    return len(parts) - 1, strip_lms_decoration(parts[-1]) if is_notebook(parts[-1]) else ""


def _digest_and_unit(chunks: Iterable[bytes]) -> tuple[str, str | None]:
    """The SHA-256 digest of a file, and the unit that the release wrote into it.

    The unit is searched for in the bytes, not parsed, so it is found in damaged notebooks, too. It is None if none is found.
    """
    digest, tail = hashlib.sha256(), b""
    found: set[str] = set()
    for chunk in chunks:
        digest.update(chunk)
        window = tail + chunk
        found |= {match.decode() for match in _UNIT.findall(window)}
        tail = window[-_OVERLAP:]
    units = found & set(UNITS)
    return digest.hexdigest(), units.pop() if len(units) == 1 else None


def _unit_of_cells(file: SourceFile) -> str | None:
    """The unit to which the exercises in a notebook belong; None if they do not tell, or the notebook is too large."""
    content = b""
    for chunk in file.chunks():
        content += chunk
        if len(content) > MAX_PARSED_BYTES:
            return None
    with contextlib.suppress(SubmissionError):
        return parse_submission(Path("notebook.ipynb"), content).unit
    return None


def _yaml_mapping(content: bytes) -> Mapping[str, Any]:
    """A YAML document with all scalars as text; empty if it is not a mapping, or nested deeper than anything an LMS writes."""
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
