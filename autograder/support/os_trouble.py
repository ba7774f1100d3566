"""What the operating system refuses, in one line: which file, why, and what to do."""

from __future__ import annotations

import errno

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
"""The disk is full, or a quota is used up."""

ROOM = "make room there and start again; nothing is half-written"
ACCESS = "ls -ld on it and on its folder shows who may write"
ADVICE = (
    dict.fromkeys(NO_SPACE, ROOM)
    | dict.fromkeys((errno.EACCES, errno.EPERM), ACCESS)
    | {errno.EROFS: "mount it for writing, or use a copy elsewhere"}
)


def os_trouble(error: OSError) -> str:
    """The file, what the system says about it, and what to do if that is known."""
    advice = ADVICE.get(error.errno or 0)
    said = f"{error.strerror or error}; {advice}" if advice else error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said
