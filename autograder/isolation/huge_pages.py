"""Put the memory of a process that is forked often into pages of 2 MiB instead of 4 KiB, so that a fork copies less."""

from __future__ import annotations

import ctypes
import sys

MADV_COLLAPSE = 25
"""Known to Linux from 6.1 on. Older kernels refuse it, and then nothing changes."""

HUGE = 2 << 20


def use_huge_pages() -> None:
    """Ask Linux to put what this process has allocated so far into huge pages; elsewhere, and where it cannot, do nothing.

    Every fork copies an entry for each page that its parent has written to, and clears it in the end. With torch imported there
    are 65,000 of them, which took a fifth of the time of marking a submission.
    """
    if not sys.platform.startswith("linux"):
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with open("/proc/self/maps") as file:
        areas = [line.split() for line in file]
    for place, rights, _, _, _, *name in areas:
        if rights == "rw-p" and name in ([], ["[heap]"]):
            start, end = (int(address, 16) for address in place.split("-"))
            start, end = -(-start // HUGE) * HUGE, end // HUGE * HUGE
            if start < end:
                madvise(start, end - start, MADV_COLLAPSE)
