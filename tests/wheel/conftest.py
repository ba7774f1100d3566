"""The wheel, built once for all tests that install it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="package")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built as ``make wheel`` does but with the tools that are installed here."""
    folder = tmp_path_factory.mktemp("dist")
    tools = ["--no-build-isolation", "--python", sys.executable, "--offline"]
    command = [Path(sys.executable).with_name("uv"), "build", "--quiet", *tools, "--out-dir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel
