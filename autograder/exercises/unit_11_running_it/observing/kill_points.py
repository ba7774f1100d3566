"""Every state that a folder can be in if the process is killed while it writes there."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, MappingProxyType

import torch

from autograder.contract.folders import Folder
from autograder.observing.folders import in_order, read_files

MOVES: frozenset[object] = frozenset((os.rename, os.replace, os.link, os.symlink))
"""Functions that give a name to a file that exists already, in one step."""

IN_MEMORY = (dict, list, tuple, str, type, OrderedDict, MappingProxyType, torch.Tensor, torch.UntypedStorage)
"""Types whose methods write no files; these are most of the calls while a checkpoint is made."""


@dataclass(frozen=True)
class _State:
    """A folder at one moment: its content, the inode behind each name, and whether the last operation there was a move."""

    disk: Folder
    files: dict[str, int]
    moved: bool = False


@contextlib.contextmanager
def interrupted(folder: Path, known: Folder) -> Iterator[list[Folder]]:
    """A list that is filled, when the block ends, with each state that a kill within the block can leave, in order of time.

    The folder is looked at after every call of a function that is not written in Python, and a file that has grown meanwhile is
    cut in half. What threads and other processes do is seen late; a file that they have replaced counts as whole.
    """
    moments: list[Folder] = []
    states = [_state(folder, known)]
    signature, before = _signature(folder), sys.getprofile()

    def look(moved: bool) -> None:
        nonlocal signature
        if (now := _signature(folder)) != signature:
            signature = now
            states.append(_state(folder, known, moved))

    def on_event(frame: FrameType, event: str, called: object) -> None:
        if event == "c_return" and not _stays_in_memory(called):
            look(called in MOVES)

    sys.setprofile(on_event)
    try:
        yield moments
    finally:
        sys.setprofile(before)
    states.append(_state(folder, known))
    moments += _moments(states)


def _stays_in_memory(called: object) -> bool:
    """Whether a function that was called writes no file."""
    return isinstance(getattr(called, "__self__", None), IN_MEMORY) or getattr(called, "__module__", None) == "builtins"


def _signature(folder: Path) -> frozenset[tuple[str, int, int, int]]:
    """A value that changes whenever a file is created, removed, resized or written to."""
    seen = set()
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # another thread has moved it since
                one = entry.stat(follow_symlinks=False)
                seen.add((entry.name, one.st_ino, one.st_size, one.st_mtime_ns))
    return frozenset(seen)


def _state(folder: Path, known: Folder, moved: bool = False) -> _State:
    """The state of a folder now; each inode is that of the file that was read, even if its name now belongs to another."""
    files = read_files(folder)
    disk = in_order({name: content for name, (_, content) in files.items()}, known)
    return _State(disk, {name: inode for name, (inode, _) in files.items()}, moved)


def _moments(states: list[_State]) -> Iterator[Folder]:
    """One state for each file while it is being written, and one after every other change."""
    steps = [(_written(a, b), a.disk, b.disk) for a, b in itertools.pairwise(states) if a.disk != b.disk]
    for written, group in itertools.groupby(steps, lambda step: step[0]):
        several = list(group)
        if not written:
            yield from (disk for *_, disk in several)
            continue
        before, disk = several[0][1], several[-1][2]
        yield {
            name: _half(before.get(name, b""), [later.get(name, b"") for *_, later in several]) if name in written else content
            for name, content in disk.items()
        }


def _half(before: bytes, later: list[bytes]) -> bytes:
    """A file when half of what was written to it is there; what it was only appended to keeps what it held.

    Args:
        before: what it held.
        later: what it held at each moment after that, up to the last. Where it is written anew, with the same bytes perhaps,
            it is shorter at first.
    """
    kept = len(before) if all(content.startswith(before) for content in later) else 0
    return later[-1][: kept + (len(later[-1]) - kept) // 2]


def _written(before: _State, after: _State) -> frozenset[str]:
    """The names of files that were written to between two states, not just moved or replaced."""
    changed = {name for name, content in after.disk.items() if before.disk.get(name) != content}
    kept = {name for name in changed if before.files.get(name, after.files[name]) == after.files[name]}
    return frozenset() if after.moved else frozenset(kept)
