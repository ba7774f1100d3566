"""Read a folder of files and make one."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from autograder.contract.folders import MAX_FOLDER_BYTES, Folder, check_name, check_size
from autograder.support.regular_files import NotRegularError, open_regular


def read_files(place: Path) -> dict[str, tuple[int, bytes]]:
    """The inode and the content of each file in a folder, by name. Pipes, folders and what leads elsewhere are no files.

    Raises:
        FolderError: there is more than is carried to another process.
    """
    files: dict[str, tuple[int, bytes]] = {}
    size = 0
    for name in sorted(os.listdir(place)):
        with contextlib.suppress(FileNotFoundError, NotRegularError):  # another thread may have moved it since
            with open_regular(place, [_within(place, name)]) as file:
                content = file.read(MAX_FOLDER_BYTES + 1 - size)
                files[name] = os.fstat(file.fileno()).st_ino, content
            size += len(content)
            check_name(name)
            check_size(len(files), size)
    return files


def _within(place: Path, name: str) -> str:
    """The name itself, or that of the file in the same folder to which it is a link."""
    if not os.path.islink(place / name):
        return name
    folder, target = os.path.split(os.path.realpath(place / name))
    return target if folder == os.path.realpath(place) else name


def read_folder(place: Path, known: Folder) -> Folder:
    """The files of a folder; those that are unchanged since ``known`` come first, in its order.

    Raises:
        FolderError: there is more than is carried to another process.
    """
    return in_order({name: content for name, (_, content) in read_files(place).items()}, known)


def in_order(folder: Folder, known: Folder) -> Folder:
    """The same files; those that are unchanged since ``known`` come first, in its order."""
    return {name: content for name, content in known.items() if folder.get(name) == content} | folder


def write_folder(place: Path, folder: Folder) -> None:
    """Make a folder contain these files and nothing else."""
    for path in list(place.iterdir()):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name, content in folder.items():
        Path(place, name).write_bytes(content)
    show_age(place, folder)


def show_age(place: Path, folder: Folder) -> None:
    """Make later files newer by setting their times, the last one to a second ago: several may be written within one tick."""
    first = time.time() - len(folder)
    for seconds, name in enumerate(folder):
        os.utime(Path(place, name), (first + seconds,) * 2)
