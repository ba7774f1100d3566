"""A file of a source, wherever it is: in a folder, or in an archive. It is read in chunks and never as a whole."""

from __future__ import annotations

import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from autograder.reading.submissions import MAX_FILE_BYTES
from autograder.support.one_line import one_line
from autograder.support.regular_files import why_not_regular

MAX_DEPTH = 30
"""Folders that may be inside each other."""

CHUNK = 2**18
"""Bytes read at a time."""

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What reading a damaged archive may raise."""

TOO_LARGE = f"is larger than the {MAX_FILE_BYTES / 2**20:.0f} MB that are read; ask for it without its outputs"


class UnreadableFileError(Exception):
    """A file that cannot be read. One line: why, and what to do."""


@dataclass(frozen=True)
class SourceFile:
    """A file of a source.

    Attributes:
        parts: the names of the folders and archives that lead to it, and its own.
        problem: why it cannot be read; empty if there is no known reason.
        modified: time of the last change, in seconds since 1970 by the clock of the computer that wrote it; 0 if unknown.
        number: distinguishes files of the same name in an archive; 0 for the first.
        opener: opens the file for reading bytes.
    """

    parts: tuple[str, ...]
    problem: str = ""
    modified: float = 0.0
    number: int = 0
    opener: Callable[[], IO[bytes]] | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Its path in one line."""
        name = one_line("/".join(self.parts))
        return f"{name} (number {self.number + 1} of this name)" if self.number else name

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, in chunks.

        Raises:
            UnreadableFileError: it cannot be read, or is too large.
        """
        if self.problem or self.opener is None:
            raise UnreadableFileError(self.problem)
        left = MAX_FILE_BYTES
        try:
            with self.opener() as file:
                while chunk := file.read(CHUNK):
                    if (left := left - len(chunk)) < 0:
                        raise UnreadableFileError(TOO_LARGE)
                    yield chunk
        except OSError as error:
            raise UnreadableFileError(f"cannot be read: {error.strerror or error}; give it again") from None
        except DAMAGED as error:
            raise UnreadableFileError(f"is damaged in its archive ({one_line(str(error))}); download it again") from None


def normalised(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The names with each accented letter as one character (NFC): macOS writes letter and accent separately."""
    return tuple(unicodedata.normalize("NFC", part) for part in parts)


def is_archive(name: str) -> bool:
    """Whether a file is an archive whose files are listed, by its name."""
    return name.lower().endswith(".zip")


def not_a_file(mode: int) -> str:
    """Why something with this mode cannot be read as a file; empty if it is a regular file."""
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return f"is a folder more than {MAX_DEPTH} folders deep; move it up"
    return why_not_regular(mode)
