"""The version and source digest of this package.

A change of either invalidates existing marks, and machines that mark together must have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

PACKAGES = ("gradaccum", "autograder")


@cache
def edition() -> str:
    """Version and source digest, such as ``"0.1.0 (1f3c9a2b)"``; in a clone, the source changes more often than the version."""
    return f"{version('gradaccum')} ({source_digest(Path(str(files(package))) for package in PACKAGES)})"


def source_digest(folders: Iterable[Path]) -> str:
    """Eight hexadecimal digits that depend on the names and contents of the modules in these folders.

    Solutions, which only a wheel has in there, are no modules: their names begin with a digit.
    """
    digest = sha256()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*.py") if path.stem.isidentifier()):
            digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:8]
