"""The files in what an LMS, nbgrader's exchange or an instructor brings together: a folder, or a zip, with zips inside.

Nothing in here is unpacked under a name that somebody else chose, no link is followed, and nothing is read as a whole. What
cannot be read is a file all the same, with the reason.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import time
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from autograder.reading.submissions import LARGEST

MOST_FILES = 200_000
"""Files a source may hold. A class of hundreds with all units, and a repository for each, has fewer."""

MOST_IN_ARCHIVE = 20_000
"""Files an archive inside a source may hold; a student may have packed it."""

LARGEST_UNPACKED = 4 * 2**30
"""Bytes an archive inside a source may unpack to, with the archives in it."""

LARGEST_SOURCE = 64 * 2**30
"""Bytes a source may unpack to if it is an archive."""

DEEPEST, DEEPEST_ARCHIVE = 30, 3
"""Folders, and archives, that may lie inside each other."""

READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways of packing. Others are rare, and may ask for gigabytes of memory."""

LONGEST_NAME = 255
"""Characters of one name; no file system has longer ones, and a zip may."""

CHUNK = 2**18

_CENTRAL_ENTRY = b"PK\x01\x02"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class SourceError(ValueError):
    """A source that cannot be used. One line: which, why, what to do."""


class UnreadableFileError(Exception):
    """A file that cannot be read. One line: why, and what to do."""


@dataclass(frozen=True)
class SourceFile:
    """A file of a source.

    Attributes:
        parts: the names on the way to it, folders and archives, and its own.
        problem: why it cannot be read; empty if nothing is known against it.
        modified: seconds since 1970 by the clock of whoever wrote it; 0 if that is not known.
        number: tells files of one name apart that an archive holds; 0 for the first.
    """

    parts: tuple[str, ...]
    problem: str = ""
    modified: float = 0.0
    number: int = 0
    opener: Callable[[], BinaryIO] | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What to call it in one line, with nothing in it that a terminal obeys."""
        name = printable("/".join(self.parts))
        return f"{name} (number {self.number + 1} of this name)" if self.number else name

    def chunks(self) -> Iterator[bytes]:
        """Its bytes.

        Raises:
            UnreadableFileError: it cannot be read, or is too large.
        """
        if self.problem or self.opener is None:
            raise UnreadableFileError(self.problem)
        left = LARGEST
        try:
            with self.opener() as file:
                while chunk := file.read(CHUNK):
                    if (left := left - len(chunk)) < 0:
                        raise UnreadableFileError(_TOO_LARGE)
                    yield chunk
        except OSError as error:
            raise UnreadableFileError(f"cannot be read: {error.strerror or error}; give it again") from None
        except _DAMAGED as error:
            raise UnreadableFileError(f"is damaged in its archive ({printable(str(error))}); download it again") from None


_TOO_LARGE = f"is larger than the {LARGEST / 2**20:.0f} MB that are read; ask for it without its outputs"


def printable(text: str) -> str:
    """A text with an escape in place of everything that is not printable, half characters included."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


@contextlib.contextmanager
def opened(source: Path) -> Iterator[list[SourceFile]]:
    """The files of a folder or zip, in order of their names. They can be read until this is left.

    Raises:
        SourceError: it is neither of the two, or holds more than anybody hands in.
    """
    with contextlib.ExitStack() as stack:
        listing = _Listing(source, stack)
        try:
            if source.is_dir():
                os.listdir(source)  # what cannot be opened at all is no folder with a file that cannot be read
                listing.add_folder(source.resolve())
            elif source.is_file():
                if reason := listing.add_archive(source.open("rb"), (), _Budget(LARGEST_SOURCE), 0):
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
    """What an archive and those in it may still unpack to."""

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
            inside = waiting.pop()
            try:
                with contextlib.ExitStack() as stack:
                    handle = _open_below(root, inside, os.O_DIRECTORY)
                    stack.callback(os.close, handle)
                    entries = [(name, _status(name, handle)) for name in sorted(os.listdir(handle))]
            except OSError as error:
                self._add(SourceFile((*inside, ""), f"the folder cannot be opened: {error.strerror or error}"))
                continue
            for name, status in entries:
                parts = (*inside, name)
                if status is None:
                    self._add(SourceFile(_normal(parts), "was there and is gone; give it again"))
                elif stat.S_ISDIR(status.st_mode) and len(parts) < DEEPEST:
                    waiting.append(parts)
                else:
                    self._add_plain(root, parts, status)

    def _add_plain(self, root: Path, parts: tuple[str, ...], status: os.stat_result) -> None:
        problem = _not_a_file(status.st_mode) or (_TOO_LARGE if status.st_size > LARGEST else "")
        file = SourceFile(_normal(parts), problem, status.st_mtime, opener=lambda: _open_file(root, parts))
        if not is_archive(parts[-1]) or _not_a_file(status.st_mode):
            self._add(file)
            return
        try:
            reason = self.add_archive(_open_file(root, parts), file.parts, _Budget(LARGEST_UNPACKED), 1)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
        if reason:
            self._add(replace(file, problem=reason))

    def add_archive(self, file: BinaryIO, inside: tuple[str, ...], budget: _Budget, depth: int) -> str:
        """Add the files of an archive that lies in ``depth`` others, or folders that are the source.

        Returns:
            Why it cannot be opened, and then none has been added; empty otherwise.
        """
        self.stack.callback(file.close)
        try:
            if inside and _entries(file) > MOST_IN_ARCHIVE:
                return f"is an archive of more than {MOST_IN_ARCHIVE} files; ask for the notebook alone"
            archive = self.stack.enter_context(zipfile.ZipFile(file))
        except (*_DAMAGED, OSError):
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
            self._add_member(archive, member, inside, budget, depth)
        return ""

    def _add_member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, inside: tuple[str, ...], budget: _Budget, depth: int
    ) -> None:
        names = tuple(re.split(r"[/\\]", _decoded(member)))
        problem = _suspicious(member, names)
        names = tuple(name[:LONGEST_NAME] for name in names[-DEEPEST:] if name not in ("", ".")) or ("",)
        file = SourceFile((*inside, *_normal(names)), problem, _packed(member), opener=lambda: archive.open(member))
        if not problem and is_archive(names[-1]):
            nested = "lies in too many archives; unpack it" if depth >= DEEPEST_ARCHIVE else ""
            try:
                inner = budget if depth else _Budget(LARGEST_UNPACKED)
                nested = nested or self.add_archive(self._spooled(file), file.parts, inner, depth + 1)
            except UnreadableFileError as error:
                nested = str(error)
            if not nested:
                return
            file = replace(file, problem=nested)
        self._add(file)

    def _spooled(self, file: SourceFile) -> BinaryIO:
        """An archive out of an archive, where one can go back and forth in it."""
        spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the listing is left
        try:
            for chunk in file.chunks():
                spool.write(chunk)
        except BaseException:
            spool.close()
            raise
        spool.seek(0)
        return spool

    def _add(self, file: SourceFile) -> None:
        if len(self.files) >= MOST_FILES:
            raise SourceError(f"{self.source}: holds more than {MOST_FILES} files; name the folder with what was handed in")
        self.files.append(file)


def _open_below(root: Path, parts: tuple[str, ...], flags: int) -> int:
    """Open what lies below a folder, and follow no link on the way, not even one that was put there just now."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for place, name in enumerate(parts, 1):
        kind = flags if place == len(parts) else os.O_DIRECTORY
        try:
            inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | kind, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _open_file(root: Path, parts: tuple[str, ...]) -> BinaryIO:
    handle = _open_below(root, parts, 0)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "it is no file any more")
    return open(handle, "rb")


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _not_a_file(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return f"is a folder more than {DEEPEST} folders deep; move it up"
    return "is a link, which is not followed; give the file" if stat.S_ISLNK(mode) else "is not a file; give a notebook"


def _suspicious(member: zipfile.ZipInfo, names: tuple[str, ...]) -> str:
    if ".." in names or names[0] == "" or re.match(r"[A-Za-z]:$", names[0]):
        return "has a name that leads out of its archive; ask for the notebook alone"
    if len(names) > DEEPEST or max(map(len, names)) > LONGEST_NAME:
        return f"is more than {DEEPEST} folders deep, or has a name longer than files can have; ask for the notebook alone"
    mode = member.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return _not_a_file(mode)
    if member.flag_bits & 1:
        return "is encrypted; ask for it without a password"
    if member.compress_type not in READABLE:
        return "is packed in a way that is not read; unpack it, or pack it as a plain zip"
    return _TOO_LARGE if member.file_size > LARGEST else ""


def _decoded(member: zipfile.ZipInfo) -> str:
    """The name of a member. Archives of macOS write UTF-8 and do not say so, and zipfile then takes it for that of DOS."""
    if not member.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return member.orig_filename.encode("cp437").decode()
    return member.orig_filename


def _packed(member: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _normal(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part) for part in parts)


def is_archive(name: str) -> bool:
    """Whether a file is an archive that is looked into, by its name."""
    return name.lower().endswith(".zip")


def _entries(file: BinaryIO) -> int:
    """How many files an archive holds at most, told without making anything of them."""
    count, tail = 0, b""
    while chunk := file.read(CHUNK):
        count += (tail + chunk).count(_CENTRAL_ENTRY)
        tail = chunk[1 - len(_CENTRAL_ENTRY) :]
    file.seek(0)
    return count
