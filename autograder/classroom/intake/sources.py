"""Lists the files of a source: a folder or zip from an LMS, nbgrader's exchange or an instructor, with the zips inside it.

Nothing is unpacked under a name that someone else chose, no link is followed, and no file is read as a whole. A file that
cannot be read is listed all the same, with the reason.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from autograder.classroom.intake.source_files import (
    DAMAGED,
    MAX_DEPTH,
    TOO_LARGE,
    SourceFile,
    UnreadableFileError,
    is_archive,
    normalised,
    not_a_file,
)
from autograder.classroom.intake.zip_members import max_entries, member_names, member_problem, modified_time, safe_names
from autograder.reading.submissions import MAX_FILE_BYTES
from autograder.support.regular_files import open_below, open_regular

MAX_FILES = 200_000
"""Files in a source. A class of hundreds with all units, and a repository for each, has fewer."""

MAX_FILES_IN_ARCHIVE = 20_000
"""Files in an archive inside a source, which a student may have packed."""

MAX_UNPACKED_BYTES = 4 * 2**30
"""Unpacked size of an archive inside a source, including the archives in it."""

MAX_SOURCE_BYTES = 64 * 2**30
"""Unpacked size of a source that is an archive."""

MAX_ARCHIVE_DEPTH = 3
"""Archives that may be inside each other."""


class SourceError(ValueError):
    """A source that cannot be used. One line: which, why, and what to do."""


@contextlib.contextmanager
def opened(source: Path) -> Iterator[list[SourceFile]]:
    """The files of a folder or zip, ordered by name. They can be read until the context is left.

    Raises:
        SourceError: the source is neither a folder nor a zip, or holds too much.
    """
    with contextlib.ExitStack() as stack:
        listing = _Listing(source, stack)
        try:
            if source.is_dir():
                os.listdir(source)  # a folder that cannot be opened at all is an error, not a file that cannot be read
                listing.add_folder(source.resolve())
            elif source.is_file():
                if reason := listing.add_archive(source.open("rb"), (), _Budget(MAX_SOURCE_BYTES), 0):
                    raise SourceError(f"{source}: {reason}; name a folder or a zip file")
            else:
                raise SourceError(f"{source}: there is no such folder or zip file")
        except OSError as error:
            raise SourceError(f"{source}: cannot be read: {error.strerror or error}") from None
        seen: Counter[tuple[str, ...]] = Counter()
        numbered = []
        for file in listing.files:
            numbered.append(replace(file, number=seen[file.parts]))
            seen[file.parts] += 1
        yield sorted(numbered, key=lambda file: (file.parts, file.number))


@dataclass
class _Budget:
    """How many bytes an archive, with the archives in it, may unpack to, and how many it does so far."""

    limit: int
    spent: int = 0


class _Listing:
    """Collects the files of a source."""

    def __init__(self, source: Path, stack: contextlib.ExitStack):
        self.source, self.stack = source, stack
        self.files: list[SourceFile] = []

    def add_folder(self, root: Path) -> None:
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            folder = waiting.pop()
            try:
                with contextlib.ExitStack() as stack:
                    handle = open_below(root, folder, os.O_DIRECTORY)
                    stack.callback(os.close, handle)
                    entries = [(name, _status(name, handle)) for name in sorted(os.listdir(handle))]
            except OSError as error:
                self._add(SourceFile((*folder, ""), f"the folder cannot be opened: {error.strerror or error}"))
                continue
            for name, status in entries:
                parts = (*folder, name)
                if status is None:
                    self._add(SourceFile(normalised(parts), "was there and is gone; give it again"))
                elif stat.S_ISDIR(status.st_mode) and len(parts) < MAX_DEPTH:
                    waiting.append(parts)
                else:
                    self._add_from_folder(root, parts, status)

    def _add_from_folder(self, root: Path, parts: tuple[str, ...], status: os.stat_result) -> None:
        problem = not_a_file(status.st_mode) or (TOO_LARGE if status.st_size > MAX_FILE_BYTES else "")
        file = SourceFile(normalised(parts), problem, status.st_mtime, opener=lambda: open_regular(root, parts))
        if not is_archive(parts[-1]) or not_a_file(status.st_mode):
            self._add(file)
            return
        try:
            reason = self.add_archive(open_regular(root, parts), file.parts, _Budget(MAX_UNPACKED_BYTES), 1)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
        if reason:
            self._add(replace(file, problem=reason))

    def add_archive(self, file: IO[bytes], parts: tuple[str, ...], budget: _Budget, depth: int) -> str:
        """Add the files of an archive.

        Args:
            file: the archive.
            parts: the names that lead to it; empty if it is the source itself.
            budget: how many bytes it may unpack to.
            depth: the number of archives around it, where a folder that is the source counts as one.

        Returns:
            Why the archive cannot be opened; in this case no file has been added. Empty otherwise.
        """
        self.stack.callback(file.close)
        try:
            if parts and max_entries(file) > MAX_FILES_IN_ARCHIVE:
                return f"is an archive of more than {MAX_FILES_IN_ARCHIVE} files; ask for the notebook alone"
            archive = self.stack.enter_context(zipfile.ZipFile(file))
        except (*DAMAGED, OSError):
            return "is no zip archive, or a damaged one"
        members = [member for member in archive.infolist() if not member.orig_filename.endswith(("/", "\\"))]
        if not members:
            return "is an archive without files"
        unpacked = sum(member.file_size for member in members)
        if budget.spent + unpacked > budget.limit:
            limit = f"{budget.limit / 2**30:.0f} GB"
            return f"is an archive that unpacks to more than {limit}; ask for the notebook alone"
        budget.spent += unpacked
        for member in members:
            self._add_member(archive, member, parts, budget, depth)
        return ""

    def _add_member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, parts: tuple[str, ...], budget: _Budget, depth: int
    ) -> None:
        problem = member_problem(member)
        names = safe_names(member_names(member))
        path = (*parts, *normalised(names))
        file = SourceFile(path, problem, modified_time(member), opener=lambda: archive.open(member))
        if not problem and is_archive(names[-1]):
            reason = "lies in too many archives; unpack it" if depth >= MAX_ARCHIVE_DEPTH else ""
            try:
                inner_budget = budget if depth else _Budget(MAX_UNPACKED_BYTES)
                reason = reason or self.add_archive(self._seekable(file), file.parts, inner_budget, depth + 1)
            except UnreadableFileError as error:
                reason = str(error)
            if not reason:
                return
            file = replace(file, problem=reason)
        self._add(file)

    def _seekable(self, file: SourceFile) -> IO[bytes]:
        """A temporary copy of an archive inside an archive: zipfile has to move back and forth in it."""
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the listing is left
        try:
            for chunk in file.chunks():
                copy.write(chunk)
        except BaseException:
            copy.close()
            raise
        copy.seek(0)
        return copy

    def _add(self, file: SourceFile) -> None:
        if len(self.files) >= MAX_FILES:
            raise SourceError(f"{self.source}: holds more than {MAX_FILES} files; name the folder with what was handed in")
        self.files.append(file)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
