"""What a kill can leave of a folder while somebody writes there."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import torch

Disk = dict[str, bytes]
"""The files of a folder by name, the one written last at the end."""

MOVES = frozenset((os.rename, os.replace, os.link, os.symlink))
"""What gives a name to a file that is there already, all at once."""

IN_MEMORY = (dict, list, tuple, str, type, OrderedDict, MappingProxyType, torch.Tensor, torch.UntypedStorage)
"""Whose methods write no files; they are most of what is called while a checkpoint is made."""


@dataclass(frozen=True)
class _State:
    """A folder at one moment, which file (inode) each name stands for, and whether the last thing done there was a move."""

    disk: Disk
    files: dict[str, int]
    moved: bool = False


@contextlib.contextmanager
def interrupted(folder: Path, known: Disk) -> Iterator[list[Disk]]:
    """Fill in what would be on disk after a kill at each moment of this block at which that differs, in order of time.

    The folder is looked at after every call of a function that is not written in Python, and a file that grew meanwhile is cut
    in half. What threads and other processes do is seen late; a file they have replaced is taken for whole.
    """
    moments: list[Disk] = []
    states = [_State(read(folder, known), _files(folder))]
    signature, before = _signature(folder), sys.getprofile()

    def look(moved: bool) -> None:
        nonlocal signature
        if (now := _signature(folder)) != signature:
            signature = now
            states.append(_State(read(folder, known), _files(folder), moved))

    def on_event(frame, event, called) -> None:
        if event == "c_return" and not _stays_in_memory(called):
            look(called in MOVES)

    sys.setprofile(on_event)
    try:
        yield moments
    finally:
        sys.setprofile(before)
    states.append(_State(read(folder, known), _files(folder)))
    moments += _moments(states)


def _stays_in_memory(called) -> bool:
    return isinstance(getattr(called, "__self__", None), IN_MEMORY) or getattr(called, "__module__", None) == "builtins"


def _signature(folder: Path) -> frozenset:
    """Another one whenever a file has come, gone, grown or been written to."""
    with os.scandir(folder) as entries:
        seen = ((entry.name, entry.stat(follow_symlinks=False)) for entry in entries)
        return frozenset((name, one.st_ino, one.st_size, one.st_mtime_ns) for name, one in seen)


def _files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.iterdir() if path.is_file()}


def _moments(states: list[_State]) -> Iterator[Disk]:
    """One for each file while it is written, and one after everything else that happens."""
    steps = [(_written(a, b), b.disk) for a, b in itertools.pairwise(states) if a.disk != b.disk]
    for written, several in itertools.groupby(steps, lambda step: step[0]):
        if not written:
            yield from (disk for _, disk in several)
            continue
        *_, (_, disk) = several
        yield {name: content[: len(content) // 2] if name in written else content for name, content in disk.items()}


def _written(before: _State, after: _State) -> frozenset[str]:
    """The names of files that were written to between two states, and not just moved or replaced."""
    changed = {name for name, content in after.disk.items() if before.disk.get(name) != content}
    kept = {name for name in changed if before.files.get(name, after.files[name]) == after.files[name]}
    return frozenset() if after.moved else frozenset(kept)


def read(folder: Path, known: Disk) -> Disk:
    """The files of a folder, those that are as they are known to be first."""
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    old = {name: content for name, content in known.items() if found.get(name) == content}
    return old | found


def write(folder: Path, disk: Disk) -> None:
    """Make a folder hold these files and nothing else."""
    for path in list(folder.iterdir()):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, content in disk.items():
        Path(folder, name).write_bytes(content)
    show_age(folder, disk)


def show_age(folder: Path, disk: Disk) -> None:
    """Let the times of files tell which is newer: a run writes several before the clock of a file system has moved on."""
    for seconds, name in enumerate(disk):
        os.utime(Path(folder, name), (_LONG_AGO + seconds,) * 2)


_LONG_AGO = 1_000_000_000
