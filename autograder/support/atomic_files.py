"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that, whatever happens in between, it is either complete or as it was before."""
    with written_atomically(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """The path of a temporary file for the new content; it replaces the file when the block ends without an error.

    An error of the system that names the temporary file or none, such as that of a full disk, leaves with the path of this one.
    After any error, folders that were made for the file are gone.
    """
    made = [folder for folder in path.parents if not folder.exists()]
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)  # what a killed process left; or a link, which would be written through
        yield unfinished
        unfinished.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        for folder in made:
            with contextlib.suppress(OSError):  # it was not made, or another file is in it
                folder.rmdir()
        if isinstance(error, OSError) and error.filename in (None, str(unfinished)):
            error.filename = str(path)
        raise
