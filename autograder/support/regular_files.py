"""Opens files that others have put somewhere: regular files only, and no link is followed, not even one made meanwhile."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import IO

LINK = "is a link, which is not followed; give the file"


class NotRegularError(OSError):
    """What has the name of a file or folder is something else. ``strerror`` says what, and what to do."""


def why_not_regular(mode: int) -> str:
    """Why something with this mode is not opened; empty for a file or a folder."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    return LINK if stat.S_ISLNK(mode) else "is not a file; give a notebook"


def open_below(root: Path, parts: Sequence[str], flags: int = 0) -> int:
    """Open a file or folder below a folder, following no link on the way. The folder itself may be a link.

    Returns:
        The file descriptor.

    Raises:
        NotRegularError: something on the way is a link, or neither a file nor a folder.
        OSError: it cannot be opened.
    """
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for place, name in enumerate(parts, 1):
        kind = flags if place == len(parts) else os.O_DIRECTORY
        try:
            if problem := why_not_regular(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                raise NotRegularError(0, problem, str(Path(root, *parts[:place])))
            inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | kind, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def open_regular(root: Path, parts: Sequence[str]) -> IO[bytes]:
    """Open a file below a folder for reading bytes, see :func:`open_below`."""
    handle = open_below(root, parts)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegularError(0, "is not a file; give a notebook", str(Path(root, *parts)))
    return open(handle, "rb")


def irregular_path(path: Path) -> str:
    """What is neither file nor folder, the path or something below it, and what it is; empty if there is nothing like that."""
    try:
        if problem := why_not_regular(path.lstat().st_mode):
            return f"{path}: {problem}"
    except OSError as error:
        return f"{path}: {error.strerror}"
    for folder, folders, files in os.walk(path):
        for name in sorted((*folders, *files)):
            inner = Path(folder, name)
            if problem := why_not_regular(inner.lstat().st_mode):
                return f"{inner}: {problem}"
    return ""
