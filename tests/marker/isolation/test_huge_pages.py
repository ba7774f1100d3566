"""Memory in huge pages, where Linux has them."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

from autograder.isolation import huge_pages

SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
PROGRAM = """
import re
from autograder.isolation.huge_pages import use_huge_pages

kept = [str(k) * 8 for k in range(500_000)]
before = hash(tuple(kept))
use_huge_pages()
assert hash(tuple(kept)) == before
print(re.search(r"AnonHugePages: +([0-9]+)", open("/proc/self/smaps_rollup").read())[1])
"""


def linux_has_them() -> bool:
    version = tuple(map(int, re.findall(r"[0-9]+", platform.release())[:2]))
    return sys.platform.startswith("linux") and version >= (6, 1) and SETTING.exists() and "[never]" not in SETTING.read_text()


def test_allocated_memory_is_moved_to_huge_pages_and_keeps_its_content():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    if linux_has_them():
        assert int(done.stdout) > 8192  # KiB of some 40 MiB; what does not fill 2 MiB stays where it is


def test_huge_pages_are_not_requested_on_other_systems(monkeypatch):
    monkeypatch.setattr(huge_pages.sys, "platform", "darwin")
    monkeypatch.setattr(huge_pages.ctypes, "CDLL", None)
    huge_pages.use_huge_pages()
