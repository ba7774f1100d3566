"""Linux namespaces for one submission, entered by a process that was forked for it. Knows nothing of marking.

Python 3.11 has no ``unshare`` and no ``mount``, so these two and ``prctl`` are called in libc. Mechanisms: namespaces(7),
user_namespaces(7), capabilities(7).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import resource
import socket
import struct
from dataclasses import dataclass

from autograder.isolation import seccomp

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 1 << 12, 1 << 14, 1 << 18
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_SUBREAPER = 4, 24, 36
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_CAPABILITY_VERSION_3, _LAST_CAPABILITY = 0x20080522, 40
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Bounds:
    """What the processes of one submission may use.

    Attributes:
        memory: bytes of data, of each process and, counted as growth over the fork server, of all together; 0 for no limit.
        processes: how many at a time.
        disk: bytes of files in each of the two private places, ``/tmp`` and ``/dev/shm``.
    """

    memory: int
    processes: int
    disk: int


def unshare() -> None:
    """Leave the namespaces of the parent. The processes forked from now on are alone in the new ones.

    Raises:
        OSError: the kernel refuses.
    """
    user, group = os.geteuid(), os.getegid()
    kinds = _NEWUSER | _NEWNS | _NEWPID | _NEWNET | _NEWIPC | _NEWUTS | _NEWCGROUP
    _call("unshare", _libc.unshare(kinds))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount_private_filesystems(disk: int) -> None:
    """Mount private empty places for files, and hide processes and terminals; set up a loopback interface that leads nowhere.

    To be called by the first process of the new namespaces, on a file system that is read-only already.
    """
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    hidden = {place: os.open(place, os.O_PATH) for place in _folders_mounted_in("/tmp")}
    for place in ("/tmp", "/dev/shm"):
        _mount("tmpfs", place, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={disk},nr_inodes=20000,mode=1777")
    for place, descriptor in hidden.items():  # Python or the course's packages, if they are in there
        os.makedirs(place, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", place, None, _MS_BIND | _MS_REC)
        os.close(descriptor)
    # The kernel refuses a second procfs where the first one is partly covered; without any, other processes stay unseen.
    for place in ("/proc", "/dev/pts"):  # terminals would be shared with submissions that are run at the same time
        _mount("tmpfs", place, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_RDONLY, "size=0,mode=555")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def _folders_mounted_in(folder: str) -> list[str]:
    """The folders inside a folder that are mount points, without those inside such a one. See proc_pid_mountinfo(5)."""
    with open("/proc/self/mountinfo") as file:
        points = [re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), line.split()[4]) for line in file]
    found: list[str] = []
    for point in sorted(point for point in points if point.startswith(f"{folder}/") and os.path.isdir(point)):
        if not any(point == outer or point.startswith(f"{outer}/") for outer in found):
            found.append(point)
    return found


def give_up_privileges() -> None:
    """Drop every capability, for good."""
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # EINVAL for those this kernel does not have
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _call("capset", _libc.capset(header, bytes(24)))
    _call("no new privileges", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def refuse_calls() -> None:
    """Have the kernel refuse system calls that get round these limits; to be called after :func:`give_up_privileges`.

    Raises:
        OSError: the kernel cannot do that.
    """
    _call("a filter for system calls", seccomp.refuse(_libc))


def set_rlimits(bounds: Bounds) -> None:
    """Set the limits that the kernel enforces on this process and on each one it starts."""
    limits = {resource.RLIMIT_CORE: 0}
    if bounds.memory and hasattr(resource, "RLIMIT_DATA"):
        limits[resource.RLIMIT_DATA] = bounds.memory
    for kind, limit in limits.items():
        _limit(kind, limit)


def set_namespace_rlimits(bounds: Bounds) -> None:
    """Set more limits, which make sense only in private namespaces: elsewhere they would count what others use as well."""
    limits = {resource.RLIMIT_NPROC: bounds.processes, resource.RLIMIT_FSIZE: bounds.disk, resource.RLIMIT_NOFILE: 256}
    for kind, limit in limits.items():
        _limit(kind, limit)


def adopt_orphans() -> None:
    """Make processes whose parent ended children of this one. Has no effect except on Linux."""
    with contextlib.suppress(AttributeError):
        _libc.prctl(_PR_SET_SUBREAPER, 1, 0, 0, 0)


def hide_memory() -> None:
    """Let no other process of the same user look into this one."""
    with contextlib.suppress(AttributeError):
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _limit(kind: int, limit: int) -> None:
    _, hard_limit = resource.getrlimit(kind)
    limit = limit if hard_limit == resource.RLIM_INFINITY else min(limit, hard_limit)
    resource.setrlimit(kind, (limit, limit))


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    texts = (source, target, kind, options or None)
    encoded_source, encoded_target, encoded_kind, data = (None if text is None else text.encode() for text in texts)
    _call(f"mount {target}", _libc.mount(encoded_source, encoded_target, encoded_kind, ctypes.c_ulong(flags), data))


def _call(what: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
