"""Stores notebooks in ``submitted/``, where nbgrader looks, and those they replace in ``submitted-earlier/STUDENT/UNIT/``."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.intake.attempts import Attempt
from autograder.classroom.intake.source_files import CHUNK, UnreadableFileError
from autograder.classroom.intake.submission_filenames import utc
from autograder.classroom.students import IN_TIME_MARK, LATE_MARK, MOODLE_MARK, TIME_FILE
from autograder.support.atomic_files import write_atomically, written_atomically
from autograder.support.regular_files import LINK

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

KEPT_TIME, KEPT_TIME_LENGTH = "%Y-%m-%dT%H-%M-%S", 19
"""How the name of a notebook that was replaced begins, if it is known when it was handed in."""

MARKS = (LATE_MARK, IN_TIME_MARK, MOODLE_MARK)
MOODLE = "Moodle"
"""The form of names whose times are in a worksheet, see :attr:`autograder.classroom.intake.student_matching.Claim.form`."""

TAKEN, UNCHANGED, OLDER = "taken", "unchanged", "older"

TIME_NOTED = "is there already; when it was handed in is known only now"
"""Why a notebook was not taken again, of which something new is known."""


class OtherTimeError(Exception):
    """Of when a notebook was handed in something else is noted than what is to be noted. One line: where and what."""


class NotFromMoodleError(Exception):
    """The notebook that counts was in no download of Moodle's. One line: what that means, and what to do."""


class SubmittedStore:
    """The notebooks that a class has been handed in.

    Args:
        submitted, earlier: functions from student and unit to a folder: the one of the notebook that counts, and the one of
            the notebooks that it replaced.
    """

    def __init__(self, submitted: Callable[[str, str], Path], earlier: Callable[[str, str], Path]):
        self._submitted, self._earlier = submitted, earlier

    @classmethod
    def of(cls, course: CourseDirectory) -> SubmittedStore:
        """The store of a class."""

        def submitted(student: str, unit: str) -> Path:
            return Path(course.format_path(course.submitted_directory, student, unit))

        return cls(submitted, partial(earlier_folder, course))

    def put(self, attempt: Attempt, student: str) -> tuple[str, str]:
        """Store an attempt as the one that counts, unless a newer one is stored. Nothing changes until all of it has been read.

        Returns:
            TAKEN, UNCHANGED or OLDER; and the reason, which is empty if it was taken.

        Raises:
            UnreadableFileError: its file has become unreadable, or has changed; or a link is where it belongs.
            OSError: it cannot be written.
        """
        place, stamp = self._files(student, attempt.unit)
        folder = place.parent
        there, since = digest_of(place), _time_in(stamp)
        if there == attempt.digest:
            if attempt.owner.claim.form == MOODLE:
                _keep_origin(folder, attempt)
            noted = attempt.time and since is None
            if attempt.time and noted:
                write_atomically(stamp, _stamp(attempt.time))
            if not since:
                _keep_claim(folder, attempt, keep=attempt.owner.claim.late is None and not attempt.time)
            return UNCHANGED, TIME_NOTED if noted else "is there already"
        if there and (reason := self._newer(attempt, student, since)):
            return OLDER, reason
        with written_atomically(place) as unfinished:
            _copy(attempt, unfinished)
            if there:
                self._keep(place, there, since, self._earlier(student, attempt.unit))
            if attempt.time:
                write_atomically(stamp, _stamp(attempt.time))
            else:
                stamp.unlink(missing_ok=True)  # it belongs to the notebook that was replaced
            _keep_claim(folder, attempt)
            _keep_origin(folder, attempt)
        return TAKEN, ""

    def put_time(self, student: str, unit: str, time: datetime) -> str:
        """Note when Moodle was handed the notebook that counts, unless a time is noted there, which stays as it is.

        Args:
            student, unit: whose notebook, and of which unit.
            time: in UTC, without a time zone and without seconds.

        Returns:
            TAKEN, or UNCHANGED if it was noted already, or if a time is noted of a notebook that came by another way.

        Raises:
            FileNotFoundError: there is no such notebook; the message is one line.
            NotFromMoodleError: it came by another way, and no time is noted.
            OtherTimeError: something else is noted there, perhaps by a person.
            UnreadableFileError: a link is where it belongs.
            OSError: it cannot be written.
        """
        place, stamp = self._files(student, unit)
        if not place.exists():
            raise FileNotFoundError(
                "was handed in, but no notebook is in the class; give grade the download, which says why if it takes none"
            )
        from_moodle = (place.parent / MOODLE_MARK).exists()
        if stamp.exists() and stamp.read_bytes().strip():
            there = _time_in(stamp)
            if there and (not from_moodle or there.replace(second=0, microsecond=0) == time):
                return UNCHANGED
            says = f"says {there:%Y-%m-%d %H:%M:%S} UTC" if there else "holds no time"
            raise OtherTimeError(f"{stamp} {says}")
        if not from_moodle:
            raise NotFromMoodleError(
                "the notebook in the class did not come with Moodle's download, so the worksheet's time is not its own;"
                f" write when it came into {stamp}, or give grade the download if it is in there"
            )
        write_atomically(stamp, _stamp(time))
        for name in (LATE_MARK, IN_TIME_MARK):
            (place.parent / name).unlink(missing_ok=True)
        return TAKEN

    def _files(self, student: str, unit: str) -> tuple[Path, Path]:
        """Where a notebook is stored, and the time at which it was handed in; neither is a link, nor is what an LMS says of it.

        Raises:
            UnreadableFileError: one is.
        """
        folder = self._submitted(student, unit)
        place, stamp = folder / f"{unit}.ipynb", folder / TIME_FILE
        for path in (folder.parent, folder, place, stamp, *(folder / mark for mark in MARKS)):
            if path.is_symlink():
                raise UnreadableFileError(f"cannot be stored: {path} {LINK}")
        return place, stamp

    def _newer(self, attempt: Attempt, student: str, since: datetime | None) -> str:
        """Why the notebook that is stored is newer; empty if it is not."""
        if since and attempt.time:
            return f"is older than what is there, of {since:%Y-%m-%d %H:%M:%S} UTC" if attempt.time < since else ""
        kept = next(self._earlier(student, attempt.unit).glob(f"*{attempt.digest[:16]}.ipynb"), None)
        return f"was replaced by a newer one before; to take it again, delete {kept}" if kept else ""

    @staticmethod
    def _keep(place: Path, digest: str, since: datetime | None, folder: Path) -> None:
        """Keep a notebook that is about to be replaced, under its time and digest."""
        folder.mkdir(parents=True, exist_ok=True)
        when = f"{since:{KEPT_TIME}}-" if since else ""
        target = folder / f"{when}{digest[:16]}.ipynb"
        if target.exists():
            return
        try:
            os.link(place, target)
        except OSError:  # a file system without links
            with written_atomically(target) as unfinished:
                shutil.copy2(place, unfinished)


def earlier_folder(course: CourseDirectory, student: str, unit: str) -> Path:
    """The folder of the notebooks that newer ones of a student replaced."""
    return Path(course.format_path(f"{course.submitted_directory}-earlier", student, unit))


def first_kept(folder: Path) -> datetime | None:
    """When the first of the notebooks was handed in that were replaced and kept in a folder, in UTC, if any time is known."""
    times = []
    for path in folder.glob("*.ipynb"):
        with contextlib.suppress(ValueError):
            times.append(datetime.strptime(path.name[:KEPT_TIME_LENGTH], KEPT_TIME))
    return min(times, default=None)


def digest_of(path: Path) -> str | None:
    """The SHA-256 digest of a file in hexadecimal digits; None if the file does not exist.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    except FileNotFoundError:
        return None
    return digest.hexdigest()


def _keep_claim(folder: Path, attempt: Attempt, keep: bool = False) -> None:
    """Note that an LMS calls an attempt late, or in time, if it has no time. Remove what is noted else, unless it is kept."""
    claim = attempt.owner.claim
    for name, words, late in ((LATE_MARK, "marked as late", True), (IN_TIME_MARK, "not marked as late", False)):
        mark = folder / name
        if claim.late is late and not attempt.time:
            if not mark.exists():
                write_atomically(mark, f"{words} by {claim.form}\n")
        elif not keep:
            mark.unlink(missing_ok=True)


def _keep_origin(folder: Path, attempt: Attempt) -> None:
    """Note whether an attempt came from Moodle."""
    mark = folder / MOODLE_MARK
    if attempt.owner.claim.form != MOODLE:
        mark.unlink(missing_ok=True)
    elif not mark.exists():
        write_atomically(mark, "from a download of Moodle's\n")


def _copy(attempt: Attempt, place: Path) -> None:
    """Write an attempt's file to a path, and make sure that it is still the file whose digest was taken."""
    digest = hashlib.sha256()
    with place.open("wb") as file:
        for chunk in attempt.file.chunks():
            digest.update(chunk)
            file.write(chunk)
    if digest.hexdigest() != attempt.digest:
        raise UnreadableFileError("changed while it was read; give it again")


def _time_in(stamp: Path) -> datetime | None:
    try:
        return utc(stamp.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S.%f} UTC\n"
