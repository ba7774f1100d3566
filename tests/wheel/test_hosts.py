"""A notebook on Colab and Kaggle, which lack the course: its first cell installs it from a package index, here on loopback.

The hosts are imitated by what tells them apart: the module ``google.colab``, which Colab's kernels have imported, and Kaggle's
variable.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from installations import Installation, link_distributions, needed_without_extras, new_environment

from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.origin import Origin
from autograder.publishing.solution_script import source_notebook

RUNNER = Path(__file__).parents[1] / "notebooks" / "notebook_runner.py"

pytestmark = pytest.mark.slow


@pytest.fixture
def bare(tmp_path) -> Installation:
    """An environment with pip and all that the course needs, but without the course."""
    library = new_environment(tmp_path / "venv")
    link_distributions(library, {"pip", *needed_without_extras()})
    return Installation(tmp_path / "venv")


@pytest.fixture
def index(wheel, tmp_path) -> Iterator[str]:
    """The address of a package index that has the wheel and nothing else."""
    folder = tmp_path / "index" / "gradaccum"
    folder.mkdir(parents=True)
    shutil.copy(wheel, folder)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def variables_of(host: str, folder: Path) -> dict[str, str]:
    """What tells a process that it runs on this host, and keeps pip from other indexes than the one it is given."""
    (folder / "host" / "google" / "colab").mkdir(parents=True)
    (folder / "host" / "sitecustomize.py").write_text("import google.colab")
    told = {"colab": {"PYTHONPATH": str(folder / "host")}, "kaggle": {"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}}
    return {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"} | told.get(host, {})


def run_start_page(installation: Installation, folder: Path, variables: dict[str, str]) -> dict[str, dict[str, str]]:
    """What became of each code cell of the start page, by its id."""
    notebook = source_notebook(SOLUTIONS / "00_start_here.py", Origin(package="gradaccum"))
    nbformat.write(notebook, folder / "given.ipynb")
    done = installation.run(folder, "python", RUNNER, "given.ipynb", "ran.json", **variables)
    assert done.returncode == 0, done.stderr
    ids = [cell.id for cell in notebook.cells if cell.cell_type == "code"]
    return dict(zip(ids, json.loads((folder / "ran.json").read_text()), strict=True))


def test_on_colab_the_first_cell_installs_the_course_and_all_others_work(bare, index, tmp_path):
    ran = run_start_page(bare, tmp_path, variables_of("colab", tmp_path) | {"PIP_INDEX_URL": index})
    assert "Installing the course" in ran["install"]["shown"]
    assert {name: cell["error"] for name, cell in ran.items() if cell["error"]} == {}
    assert "average_gradients: 1 of 1 points, right" in ran["average_gradients"]["shown"]


def test_elsewhere_nothing_is_installed(bare, index, tmp_path):
    ran = run_start_page(bare, tmp_path, variables_of("elsewhere", tmp_path) | {"PIP_INDEX_URL": index})
    assert (ran["install"]["error"], ran["install"]["shown"].strip()) == ("", "")
    assert any("No module named" in cell["error"] for cell in ran.values())


def test_without_internet_the_first_cell_says_what_pip_says_and_what_to_do_on_kaggle(bare, tmp_path):
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    ran = run_start_page(bare, tmp_path, variables_of("kaggle", tmp_path) | nowhere)
    assert "No matching distribution found for gradaccum" in ran["install"]["error"]
    assert "turn Internet on" in ran["install"]["error"]
