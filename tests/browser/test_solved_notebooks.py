"""Solved notebooks in JupyterLab: checks, predictions and explorables, by keyboard alone."""

from __future__ import annotations

import pytest
from explorable import Explorable, key_for
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def explorables(notebook) -> list[Explorable]:
    """All of them; there are at least as many as cells that make one."""
    found = [Explorable(panel) for panel in notebook.page.locator(".gradaccum-panel:visible").all()]
    assert len(found) >= len(notebook.sources("explore("))
    return found


def test_it_runs_from_top_to_bottom(solved):
    assert solved.errors() == []
    assert solved.not_run() == []


def test_every_check_says_that_its_function_is_right(solved):
    checks = solved.sources("check(")
    assert checks
    for check in checks:
        assert solved.output_of(check).inner_text().split("\n")[0].endswith("points, right"), check


def test_a_prediction_is_chosen_and_committed_by_keyboard(solved):
    prompts = solved.page.locator(".gradaccum-predict:visible").all()
    assert len(prompts) == len(solved.sources("predict("))
    for prompt in prompts:
        commit = prompt.get_by_role("button", name="Commit", exact=True)
        expect(commit).to_be_disabled()
        prompt.get_by_role("radio").first.press("Space")
        prompt.get_by_role("radio", checked=True).press("ArrowDown")
        expect(prompt.get_by_role("radio").nth(1)).to_be_checked()
        commit.press("Enter")
        outcome = prompt.get_by_role("alert")
        outcome.wait_for()
        assert outcome.inner_text().startswith(("✓ Right.", "✗ Not so."))
        expect(prompt.get_by_role("button", name="Committed", exact=True)).to_be_disabled()


def test_every_control_of_an_explorable_obeys_the_keyboard(solved):
    for explorable in explorables(solved):
        opening = explorable.alt
        for control in explorable.controls:
            before = explorable.alt
            control.press(key_for(control))
            explorable.wait_for_other_picture(before)
            assert explorable.caption == explorable.alt
            assert control.evaluate("box => box === document.activeElement")
        explorable.press("Reset", "Space")
        explorable.wait_for_picture(opening)


def test_every_button_of_an_explorable_obeys_the_keyboard(solved):
    for explorable in explorables(solved):
        opening = explorable.alt
        for button in explorable.buttons[:-1]:
            explorable.press(button, "Space")
            explorable.wait_for_other_picture(opening)
            explorable.press("Reset", "Enter")
            explorable.wait_for_picture(opening)


def test_tab_goes_through_all_controls_of_an_explorable(solved):
    for explorable in explorables(solved):
        stops = explorable.panel.locator("select, input, button, [tabindex='0']")
        stops.first.focus()
        for stop in stops.all():
            assert stop.evaluate("stop => stop === document.activeElement"), (explorable.name, stop)
            solved.page.keyboard.press("Tab")


def test_keys_pressed_in_a_control_do_nothing_to_the_notebook(solved):
    cells = solved.cells()
    for explorable in explorables(solved):
        for control in explorable.controls:
            control.press("b")
    assert solved.cells() == cells


def test_the_page_complains_about_nothing(solved):
    assert solved.complaints == []
