"""Processes that mark for ``gradaccum classroom grade``."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from autograder.classroom.grading.local_workers import _context, _start_forking
if __name__ == "__main__":
    context = _context()
    _start_forking()
    with context.Pool(1) as pool:
        print(pool.apply(eval, ("__import__('gradaccum').__file__",)))
"""


def test_workers_find_the_package_where_a_folder_has_its_name(tmp_path):
    (tmp_path / "gradaccum").mkdir()
    (tmp_path / "script").mkdir()
    (script := tmp_path / "script" / "find.py").write_text(SCRIPT)
    found = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.stdout.strip().endswith("__init__.py"), found.stdout + found.stderr
