"""Released notebooks, run as they are from top to bottom: nothing fails, and every check says that there is work to do."""

from __future__ import annotations

import json

import pytest
from notebook_runner import run_notebook

from autograder.publishing.release import COURSE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=sorted(path.stem for path in COURSE.glob("*.ipynb")))
def unit(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def cells(unit, tmp_path_factory):
    """What became of the code cells of a released notebook."""
    return run_notebook(COURSE / f"{unit}.ipynb", tmp_path_factory.mktemp(unit))


def test_no_cell_fails_or_warns(cells):
    assert [(cell.source, cell.error or cell.stderr) for cell in cells if cell.error or cell.stderr] == []


def test_every_explorable_can_be_computed(cells):
    panels = [cell.shown for cell in cells if cell.source.startswith("explore(")]
    assert all("<img" in shown and 'role="alert"' not in shown for shown in panels)


def test_every_check_says_that_its_function_is_not_written_yet(cells):
    checks = [cell for cell in cells if cell.source.startswith("check(")]
    assert checks
    assert [cell.source for cell in checks if "points, not written yet" not in cell.shown] == []


def test_stills_say_what_the_cells_show_when_they_are_run(cells, unit):
    committed = json.loads((COURSE / f"{unit}.ipynb").read_text(encoding="utf-8"))["cells"]
    stills = [cell.get("outputs") for cell in committed if cell["cell_type"] == "code"]
    said = [
        (cell, "".join(one["data"]["text/plain"])) for cell, outputs in zip(cells, stills, strict=True) for one in outputs[:1]
    ]
    assert said
    assert [cell.source for cell, words in said if words not in cell.shown] == []
    assert all(outputs for cell, outputs in zip(cells, stills, strict=True) if cell.source.startswith("explore("))
