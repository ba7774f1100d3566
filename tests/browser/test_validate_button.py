"""nbgrader's Validate button in JupyterLab."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyterlab_session import notebook_in

from autograder.marking.marker import mark_file
from autograder.publishing.solution_script import source_notebook

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SCRIPT = Path(__file__).parents[2] / "solutions" / "03_accumulate.py"

ANSWERS = {
    "accumulate_gradient-solution": """
def accumulate_gradient(model, loss_fn, micro_batches):
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
""",
    "sum_form_lr-solution": """
def sum_form_lr(lr, accumulation_steps):
    return lr * accumulation_steps
""",
}
"""Answers by exercise: one that is right for equal micro-batches only, one that is wrong."""


def test_the_validate_button_names_the_checks_that_lose_points(page, lab):
    notebook = source_notebook(SCRIPT)
    for cell in notebook.cells:
        cell.source = ANSWERS.get(cell.id, cell.source)
    file = lab.root / "half" / f"{SCRIPT.stem}.ipynb"
    file.parent.mkdir()
    nbformat.write(notebook, file)
    verdicts = mark_file(file).verdicts
    assert [verdict.passed for verdict in verdicts] == [False, False, True]
    with notebook_in(page, lab, f"half/{file.name}") as opened:
        page.get_by_role("button", name="Validate", exact=True).click()
        said = page.get_by_role("dialog").inner_text(timeout=60_000)
        page.keyboard.press("Escape")
        assert opened.complaints == []
    assert [f"check({verdict.exercise})" in said for verdict in verdicts] == [not verdict.passed for verdict in verdicts]
    assert said.count("cell failed") == 2
