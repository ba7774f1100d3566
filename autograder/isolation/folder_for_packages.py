"""The folder that holds what a sandbox shows of our packages: one for each fork server, removed with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
import weakref
from pathlib import Path

PACKAGES_PREFIX = "gradaccum-packages-"
"""How the names of these folders begin."""

MAX_SECONDS_UNLOCKED = 60
"""How long ago such a folder may have been made and not be locked yet."""


def folder_for_packages() -> tempfile.TemporaryDirectory[str]:
    """An empty folder, locked by this process. Folders of processes that were killed before they could remove theirs go.

    A lock shows whether such a process is still there, even one in another container, whose number would mean nothing here.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{PACKAGES_PREFIX}*"):
        with contextlib.suppress(OSError):  # it is another user's or locked, or has just been removed
            if left.stat().st_mtime < time.time() - MAX_SECONDS_UNLOCKED:
                os.close(_locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB))
                shutil.rmtree(left)
    folder = tempfile.TemporaryDirectory(prefix=PACKAGES_PREFIX)
    weakref.finalize(folder, os.close, _locked(Path(folder.name), fcntl.LOCK_SH))
    return folder


def _locked(folder: Path, how: int) -> int:
    """A descriptor of the folder, which holds a lock on it until it is closed.

    Raises:
        OSError: somebody else has locked it, or it cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
