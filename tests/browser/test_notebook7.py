"""A solved notebook in Jupyter Notebook 7, which JupyterLab's server serves as well.

It has a server of its own: a server that has found a font of Notebook's refuses JupyterLab's font of the same name.
"""

from __future__ import annotations

import nbformat
import pytest
from explorable import Explorable, key_for
from jupyterlab_session import running_lab
from playwright.sync_api import expect

from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.solution_script import source_notebook

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NAME = "notebook7.ipynb"


@pytest.fixture
def lab(tmp_path):
    (root := tmp_path / "notebooks").mkdir()
    with running_lab(root, tmp_path / "home") as lab:
        yield lab


def test_explorables_predictions_and_checks_work_in_notebook_7(browser, lab):
    nbformat.write(source_notebook(SOLUTIONS / "03_accumulate.py"), lab.root / NAME)
    with browser.new_context(viewport={"width": 1280, "height": 1000}) as context:
        page = context.new_page()
        page.goto(f"{lab.url}notebooks/{NAME}?token={lab.token}")
        while not connected(lab):  # until then the page calls its kernel idle, and drops what it is to run
            page.wait_for_timeout(200)
        page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        for check in ("accumulate_gradient", "sum_form_lr", "same_update"):
            cell = page.locator(".jp-Notebook .jp-CodeCell").filter(has=page.get_by_text(f"check({check})", exact=True))
            expect(cell).to_contain_text("points, right", timeout=120_000)
        explorable = Explorable(page.locator(".gradaccum-panel:visible"))
        for control in explorable.controls:
            before = explorable.alt
            control.press(key_for(control))
            explorable.wait_for_other_picture(before)
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        arrow = page.locator(".gradaccum-panel:visible select").first.evaluate("list => getComputedStyle(list).backgroundImage")
        assert "%23ccc" in arrow, "the arrows of lists of choices are black on dark pages"
        prediction = page.locator(".gradaccum-predict:visible").first
        prediction.get_by_role("radio").first.press("Space")
        commit = prediction.get_by_role("button", name="Commit", exact=True)
        expect(commit).to_be_enabled()
        commit.press("Enter")
        expect(prediction.get_by_role("alert")).to_contain_text("It is: ")
    lab.shut_down_kernel(NAME)


def connected(lab) -> bool:
    """Whether the notebook's page is connected to its kernel, which is waiting for it."""
    kernels = [session["kernel"] for session in lab.request("GET", "sessions") if session["path"] == NAME]
    return any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels)
