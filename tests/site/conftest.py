"""A small site, built once for all tests: all pages, but only two notebooks that have been run, with their explorables."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPLORABLES = ("equivalence", "fingerprint_reading", "gallery")
"""Those of the notebooks that are run, and of the pages around them."""

if find_spec("playwright"):
    from jupyterlab_session import chromium, running_browser
else:  # a machine with little more than torch and pytest
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="package")
def site(tmp_path_factory) -> Path:
    """The folder of the built site; another process builds it, because Sphinx and its kernels change their surroundings."""
    site, work = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("work")
    code = (
        "from pathlib import Path; from website.build import build; import sys; "
        "build(Path(sys.argv[1]), Path(sys.argv[2]), '0[03]_*.ipynb', sys.argv[3:])"
    )
    built = subprocess.run([sys.executable, "-c", code, site, work, *EXPLORABLES], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, f"{built.stdout[-3000:]}\n{built.stderr[-3000:]}"
    return site


@pytest.fixture(scope="package")
def browser():
    if chromium() is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    with running_browser() as browser:
        yield browser
