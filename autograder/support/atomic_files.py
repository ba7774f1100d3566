"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it is either as it was or complete, whatever happens in between."""
    with written_atomically(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """A place to write the new content of a file to, which becomes the file when this is left without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
