"""A folder of files as plain data, in which form it is carried from one process to another."""

from __future__ import annotations

from autograder.support.one_line import one_line

Folder = dict[str, bytes]
"""The content of a folder's files by name; the file written last comes last."""

MAX_FILES = 256
"""Files of a folder. A checkpoint of a small run for each of its micro-batches is some dozens."""

MAX_FOLDER_BYTES = 4 * 2**20
"""Bytes of a folder's files. A checkpoint of the runs in the exercises has up to half a megabyte."""

MAX_FOLDERS = 64
"""Folders that a process leaves. A trial kills a run at a dozen moments."""

MAX_NAME = 200
"""Characters of a file's name."""


class FolderError(ValueError):
    """A folder is not carried. The message says why, as a sentence for the student."""


def check_size(files: int, size: int) -> None:
    """Check that a folder with so many files and bytes is carried.

    Raises:
        FolderError: it is not.
    """
    if files > MAX_FILES:
        raise FolderError(f"Your code left more than {MAX_FILES} files in the folder of its checkpoint.")
    if size > MAX_FOLDER_BYTES:
        raise FolderError(f"Your code left more than {MAX_FOLDER_BYTES // 2**20} MB in the folder of its checkpoint.")


def check_name(name: str) -> None:
    """Check that a file has a name that stays in its folder and that every system can write.

    Raises:
        FolderError: it has not.
    """
    if name in ("", ".", "..") or "/" in name or "\\" in name or name != one_line(name, MAX_NAME):
        raise FolderError("Your code left a file with an unusual name in the folder of its checkpoint.")


def check_folder(folder: Folder) -> None:
    """Check the names, the number and the size of a folder's files.

    Raises:
        FolderError: it is not carried.
    """
    check_size(len(folder), sum(map(len, folder.values())))
    for name in folder:
        check_name(name)
