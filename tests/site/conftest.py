"""A small site, built once for all tests: all pages, but only two notebooks that have been run, with their explorables."""

from __future__ import annotations

import os
import shutil
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
    from warm_python import warm_kernels
else:  # a machine with little more than torch and pytest
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="package")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The folder of the built site, and the one with what its next build can use again.

    Another process builds it, because Sphinx changes its surroundings.
    """
    site, work = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("work")
    code = (
        "from pathlib import Path; from website.build import build; import sys; "
        "build(Path(sys.argv[1]), Path(sys.argv[2]), '0[03]_*.ipynb', sys.argv[3:])"
    )
    command = [sys.executable, "-c", code, site, work, *EXPLORABLES]
    environment = os.environ | warm_kernels(tmp_path_factory.mktemp("warm"))
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return site, work


@pytest.fixture(scope="package")
def site(built) -> Path:
    """The folder of the built site."""
    return built[0]


@pytest.fixture
def pictures_of_site(built, tmp_path) -> Path:
    """A folder with the pictures that were drawn for the site."""
    return shutil.copytree(built[1] / "pictures", tmp_path / "pictures")


@pytest.fixture(scope="package")
def browser():
    if chromium() is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    with running_browser() as browser:
        yield browser
