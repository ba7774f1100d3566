"""Stores notebooks in ``submitted/``, where nbgrader looks, and those they replace in ``submitted-earlier/STUDENT/UNIT/``."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.deadlines import stamped
from autograder.classroom.intake.attempts import Attempt, unreadable
from autograder.classroom.intake.source_files import CHUNK, UnreadableFileError
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

REPLACES = "takes the place of an earlier one"
"""What is said of a notebook that was taken although there was one."""

DATED = datetime(2000, 1, 1, tzinfo=UTC)
"""A file's own time before that is none: 1970 and 1980 stand where nothing is known."""

CLOCKS_DIFFER = timedelta(days=1)
"""How much older than a time of an LMS a file's own time has to be: zips keep it without a time zone."""

TIME_NOTED = "is there already; when it was handed in is known only now"
"""Why a notebook was not taken again, of which something new is known."""


class OtherTimeError(Exception):
    """Of when a notebook was handed in something else is noted than what is to be noted. One line: where and what."""


class NotFromMoodleError(Exception):
    """The notebook that counts was in no download of Moodle's. One line: what that means, and what to do."""


class OtherAssignmentError(Exception):
    """A worksheet is not that of the assignment to which the notebook was handed in. One line."""


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
            TAKEN, UNCHANGED or OLDER; and the reason, which is empty if it was taken and nothing was there.

        Raises:
            UnreadableFileError: its file has become unreadable, or has changed; or a link is where it belongs.
            OSError: it cannot be written.
        """
        place, stamp = self._files(student, attempt.unit)
        folder = place.parent
        there, since = digest_of(place), _time_in(stamp)
        if there == attempt.digest:
            if attempt.owner.claim.form == MOODLE:
                _keep_number(folder, attempt)
            before = _marks_in(folder)
            if attempt.time and since is None:
                write_atomically(stamp, _stamp(attempt.time))
            # What was handed in in time is not late because the same was handed in again.
            if not since and not (IN_TIME_MARK in before and attempt.owner.claim.late and not attempt.time):
                _keep_claim(folder, attempt, keep=attempt.owner.claim.late is None and not attempt.time)
            noted = (attempt.time and since is None) or _marks_in(folder) != before
            return UNCHANGED, TIME_NOTED if noted else "is there already"
        if there and unreadable(attempt.unit, _chunks(place)):
            pass  # anything takes the place of a file of which nothing can be read
        elif there and (why := attempt.unreadable()):
            raise UnreadableFileError(f"{why}, so what was handed in before counts; ask for another copy")
        elif there and (reason := self._newer(attempt, student, since)):
            return OLDER, reason
        late = there is not None and (folder / LATE_MARK).exists()
        with written_atomically(place) as unfinished:
            _copy(attempt, unfinished)
            if there:
                self._keep(place, there, since, self._earlier(student, attempt.unit))
            if attempt.time:
                write_atomically(stamp, _stamp(attempt.time))
            else:
                stamp.unlink(missing_ok=True)  # it belongs to the notebook that was replaced
            # What follows late work is late, too.
            _keep_claim(folder, attempt, keep=late and attempt.owner.claim.late is None and not attempt.time)
            _keep_number(folder, attempt)
        return TAKEN, REPLACES if there else ""

    def put_time(self, student: str, unit: str, time: datetime, number: str) -> str:
        """Note when Moodle was handed the notebook that counts, unless a time is noted there, which stays as it is.

        Args:
            student, unit: whose notebook, and of which unit.
            time: in UTC, without a time zone and without seconds.
            number: under which Moodle was handed something at that time.

        Returns:
            TAKEN, or UNCHANGED if it was noted already, or if a time is noted of a notebook that came by another way.

        Raises:
            FileNotFoundError: there is no such notebook; the message is one line.
            NotFromMoodleError: it came by another way, and no time is noted.
            OtherAssignmentError: it came from Moodle under another number.
            OtherTimeError: something else is noted there, perhaps by a person.
            UnreadableFileError: a link is where it belongs.
            OSError: it cannot be written.
        """
        place, stamp = self._files(student, unit)
        if not place.exists():
            raise FileNotFoundError(
                "Moodle was handed something, but the class has no notebook of this unit; see what is said of that file"
            )
        mark = place.parent / MOODLE_MARK
        from_moodle = mark.exists()
        if from_moodle and (came_as := mark.read_text(encoding="utf-8", errors="replace").strip()) != number:
            raise OtherAssignmentError(
                f"the notebook came from Moodle as number {came_as}, and the worksheet's number is {number}, so its time is"
                " that of another assignment, or of another file"
            )
        if stamp.exists() and stamp.read_bytes().strip():
            there = _time_in(stamp)
            if there and (not from_moodle or there.replace(second=0, microsecond=0) == time):
                return UNCHANGED
            says = f"says {there:%Y-%m-%d %H:%M:%S} UTC" if there else "holds no time"
            raise OtherTimeError(f"{stamp} {says}")
        if not from_moodle:
            raise NotFromMoodleError(
                "the notebook in the class did not come with Moodle's download, so the worksheet's time is not its own;"
                f" write when it came into {stamp}"
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
        changed = attempt.file.modified
        if since and DATED.timestamp() <= changed < (since.replace(tzinfo=UTC) - CLOCKS_DIFFER).timestamp():
            written = datetime.fromtimestamp(changed, UTC)
            what = f"was last changed on {written:%Y-%m-%d}, before what is there was handed in, {since:%Y-%m-%d %H:%M:%S} UTC"
            return f"{what}; if it counts all the same, move {self._submitted(student, attempt.unit)} away"
        kept = next(self._earlier(student, attempt.unit).glob(f"*{attempt.digest[:16]}.ipynb"), None)
        return f"was replaced before; to take it again, delete {kept}" if kept else ""

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


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def digest_of(path: Path) -> str | None:
    """The SHA-256 digest of a file in hexadecimal digits; None if the file does not exist.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for chunk in _chunks(path):
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


def _marks_in(folder: Path) -> set[str]:
    """Which marks of an LMS about lateness lie in a folder."""
    return {name for name in (LATE_MARK, IN_TIME_MARK) if (folder / name).exists()}


def _keep_number(folder: Path, attempt: Attempt) -> None:
    """Note the number under which an attempt came from Moodle, or that it did not."""
    mark = folder / MOODLE_MARK
    number = f"{attempt.owner.claim.keys[0]}\n" if attempt.owner.claim.form == MOODLE else ""
    if not number:
        mark.unlink(missing_ok=True)
    elif not (mark.exists() and mark.read_text(encoding="utf-8", errors="replace") == number):
        write_atomically(mark, number)


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
        return stamped(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S.%f} UTC\n"
