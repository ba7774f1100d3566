"""One server and one browser for all browser tests, closed when these are over; one page for all tests of a notebook."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograder.publishing.solution_script import source_notebook, unit_scripts

if find_spec("playwright"):
    from jupyterlab_session import chromium, notebook_in, running_browser, running_lab
else:  # a machine with little more than torch and pytest
    collect_ignore_glob = ["test_*.py"]

ROOT = Path(__file__).parents[2]
SCRIPTS = unit_scripts(ROOT / "solutions")
RELEASED = ("00_start_here", "12_capstone")
"""Stubs show the same in place of results in every unit; tests without a browser show that no released notebook fails."""


@pytest.fixture(scope="package")
def browser():
    if chromium() is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def lab(tmp_path_factory):
    """A server on ``released/``, what students get, and ``solved/``, for the same with reference solutions."""
    root = tmp_path_factory.mktemp("notebooks")
    shutil.copytree(ROOT / "course", root / "released", ignore=shutil.ignore_patterns(".*"))
    (root / "solved").mkdir()
    with running_lab(root, tmp_path_factory.mktemp("home")) as lab:
        yield lab


@pytest.fixture(scope="package")
def page(browser):
    """A page in which notebooks are opened one after the other, as a student does; loading JupyterLab again takes seconds."""
    with browser.new_context(viewport={"width": 1280, "height": 1000}) as context:
        yield context.new_page()


@pytest.fixture(scope="package")
def other_page(browser):
    """Another one, for notebooks that are opened while one is."""
    with browser.new_context(viewport={"width": 1280, "height": 1000}) as context:
        yield context.new_page()


@pytest.fixture(scope="module", params=RELEASED)
def released(request, page, lab):
    """A released notebook in JupyterLab, after Run All Cells."""
    with notebook_in(page, lab, f"released/{request.param}.ipynb") as notebook:
        notebook.run_all()
        yield notebook


@pytest.fixture(scope="module", params=list(SCRIPTS))
def solved(request, page, lab):
    """A notebook with reference solutions in JupyterLab, after Run All Cells."""
    import nbformat

    name = f"solved/{request.param}.ipynb"
    nbformat.write(source_notebook(SCRIPTS[request.param]), lab.root / name)
    with notebook_in(page, lab, name) as notebook:
        notebook.run_all()
        yield notebook
