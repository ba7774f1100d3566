"""Files that commands write for an instructor: never over another file, unless that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class FileExistsAlreadyError(ValueError):
    """A file that a command would replace. One line: which, and what to do."""


def refuse_to_replace(paths: Iterable[Path], overwrite: bool) -> None:
    """Raise if one of these files is there, unless it may be replaced.

    Raises:
        FileExistsAlreadyError: one is there.
    """
    there = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if there and not overwrite:
        raise FileExistsAlreadyError(
            f"{' and '.join(there)}: there already; replace with --overwrite, or name another file with --to"
        )
