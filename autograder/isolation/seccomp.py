"""A kernel filter that refuses the system calls that a submission has no use for and that its limits do not cover.

With them it could hold memory that counts for no process (files known only by a descriptor, System V segments and queues),
trace processes, make namespaces and change mounts. See seccomp(2); the numbers are those of the kernel's ``unistd.h``.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from dataclasses import dataclass

_PR_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_OTHER_TABLE = 0x40000000
"""Numbers from here on are those of x86-64's second table, x32."""

_NEW_NAMESPACES = 0x7E020000

NEW_MOUNTS = (428, 429, 430, 431, 432, 433, 442)
"""open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr"""

OTHER_CALLS = (425, 426, 427, 438, 447)
"""io_uring (all three), pidfd_getfd, memfd_secret"""

CLONE3 = 435


@dataclass(frozen=True)
class Table:
    """How a processor's system calls are numbered."""

    architecture: int
    clone: int
    refused: tuple[int, ...]


TABLES = {
    "x86_64": Table(
        0xC000003E,
        56,
        (
            *(319, 29, 64, 68, 240),  # memfd_create, shmget, semget, msgget, mq_open
            *(101, 310, 311, 298, 321, 323),  # ptrace, process_vm_readv, process_vm_writev, perf_event_open, bpf, userfaultfd
            *(272, 308, 165, 166, 155),  # unshare, setns, mount, umount2, pivot_root
            *(248, 249, 250, 303, 304),  # add_key, request_key, keyctl, name_to_handle_at, open_by_handle_at
        ),
    ),
    "aarch64": Table(
        0xC00000B7,
        220,
        (
            *(279, 194, 190, 186, 180),
            *(117, 270, 271, 241, 280, 282),
            *(97, 268, 40, 39, 41),
            *(217, 218, 219, 264, 265),
        ),
    ),
}
"""The same calls in the same order for both processors."""


def refuse(libc: ctypes.CDLL) -> int:
    """Install the filter for this process and all that it starts, for good; return what ``prctl`` returns.

    Raises:
        OSError: the numbers of this processor's calls are not known.
    """
    table = TABLES.get(platform.machine())
    if table is None:
        raise OSError(f"system calls are not known for {platform.machine()}")
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in _program(table))
    kept = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    return libc.prctl(_PR_SET_SECCOMP, _FILTER, head, 0, 0)


def _program(table: Table) -> list[tuple[int, int, int, int]]:
    """Instructions: operation, steps to skip if true, steps to skip if false, operand."""
    refused = (*table.refused, *NEW_MOUNTS, *OTHER_CALLS)
    # A test that succeeds jumps over the tests that remain to one of the last three instructions: allow, EPERM, ENOSYS.
    head = [(_LOAD, 0, 0, _ARCHITECTURE), (_JUMP_EQUAL, 1, 0, table.architecture), (_RETURN, 0, 0, _ERROR | _EPERM)]
    tests = [(_JUMP_AT_LEAST, _OTHER_TABLE), *((_JUMP_EQUAL, number) for number in refused)]
    after = 5  # the check of clone's flags, and "allow"
    jumps = [(kind, len(tests) - k - 1 + after, 0, operand) for k, (kind, operand) in enumerate(tests)]
    tail = [
        (_JUMP_EQUAL, 5, 0, CLONE3),  # glibc then falls back to clone, whose flags can be looked at
        (_JUMP_EQUAL, 0, 2, table.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_ANY_BIT, 1, 0, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | _EPERM),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
    ]
    return [*head, (_LOAD, 0, 0, _NUMBER), *jumps, *tail]
