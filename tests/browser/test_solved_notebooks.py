"""Solved notebooks in JupyterLab: checks, predictions and explorables, by keyboard alone."""

from __future__ import annotations

import nbformat
import pytest
from explorable import Explorable, key_for
from jupyterlab_session import notebook_in
from nbconvert import HTMLExporter
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def explorables(notebook) -> list[Explorable]:
    """All of them; there are at least as many as cells that make one."""
    found = [Explorable(panel) for panel in notebook.page.locator(".gradaccum-panel:visible").all()]
    assert len(found) >= len(notebook.sources("explore("))
    return found


def test_the_notebook_runs_from_top_to_bottom(solved):
    assert solved.errors() == []
    assert solved.not_run() == []


def test_every_check_of_a_solution_says_right(solved):
    assert solved.checks()
    for check in solved.checks():
        expect(solved.output_of(check)).to_contain_text("points, right")


def test_a_prediction_is_chosen_and_committed_by_keyboard(solved):
    prompts = solved.page.locator(".gradaccum-predict:visible").all()
    assert len(prompts) == len(solved.sources("predict("))
    for prompt in prompts:
        commit = prompt.get_by_role("button", name="Commit", exact=True)
        expect(commit).to_be_disabled()
        prompt.get_by_role("radio").first.press("Space")
        prompt.get_by_role("radio", checked=True).press("ArrowDown")
        expect(prompt.get_by_role("radio").nth(1)).to_be_checked()
        expect(commit).to_be_enabled()
        commit.press("Enter")
        outcome = prompt.get_by_role("alert")
        outcome.wait_for()
        assert outcome.inner_text().startswith(("✓ Right.", "✗ Not so."))
        expect(prompt.get_by_role("button", name="Committed", exact=True)).to_be_disabled()


def test_an_explorable_obeys_the_keyboard_in_its_first_control_and_in_every_kind_of_control(solved):
    """Each kind once in a notebook: that every control changes the picture is tested without a browser."""
    kinds = set()
    for explorable in explorables(solved):
        opening = explorable.alt
        for number, control in enumerate(explorable.controls):
            kind = control.get_attribute("type") or control.get_attribute("role") or "select"
            if number and kind in kinds:
                continue
            kinds.add(kind)
            before = explorable.alt
            control.press(key_for(control))
            explorable.wait_for_other_picture(before)
            expect(explorable.caption).to_have_text(explorable.alt)
            assert control.evaluate("box => box === document.activeElement")
        explorable.press("Reset", "Space")
        explorable.wait_for_picture(opening)


def test_every_button_of_a_notebook_s_first_explorable_obeys_the_keyboard(solved):
    for explorable in explorables(solved)[:1]:
        opening = explorable.alt
        for button in explorable.buttons[:-1]:
            explorable.press(button, "Space")
            explorable.wait_for_other_picture(opening)
            explorable.press("Reset", "Enter")
            explorable.wait_for_picture(opening)


def test_a_button_pressed_while_a_change_is_being_drawn_has_the_last_word(solved):
    """A kernel may handle the two in threads of their own."""
    for explorable in explorables(solved)[:1]:
        opening, button, control = explorable.alt, explorable.buttons[0], explorable.controls[0]
        explorable.press(button, "Space")
        explorable.wait_for_other_picture(opening)
        preset = explorable.alt
        for milliseconds in (0, 0, 50, 100, 200):
            explorable.press("Reset", "Space")
            explorable.wait_for_picture(opening)
            control.press(key_for(control))
            solved.page.wait_for_timeout(milliseconds)
            explorable.press(button, "Space")
            explorable.wait_for_picture(preset)
            solved.page.wait_for_timeout(300)
            assert explorable.alt == preset
        explorable.press("Reset", "Space")
        explorable.wait_for_picture(opening)


def test_tab_goes_through_all_controls_of_an_explorable(solved):
    for explorable in explorables(solved):
        stops = explorable.panel.locator("select, input, button, [tabindex='0']").filter(visible=True)
        stops.first.focus()
        for stop in stops.all():
            assert stop.evaluate("stop => stop === document.activeElement"), (explorable.name, stop)
            solved.page.keyboard.press("Tab")


def test_on_a_narrow_page_a_new_picture_is_scrolled_as_far_as_the_one_before(solved):
    try:
        solved.page.set_viewport_size({"width": 700, "height": 1000})
        for explorable in explorables(solved)[:1]:
            opening = explorable.alt
            assert (scrolled := explorable.scroll_to_the_right()) > 0
            explorable.press(explorable.buttons[0], "Space")
            explorable.wait_for_other_picture(opening)
            assert explorable.scrolled == scrolled
            explorable.press("Reset", "Space")
            explorable.wait_for_picture(opening)
    finally:
        solved.page.set_viewport_size({"width": 1280, "height": 1000})


def test_keys_pressed_in_a_control_do_nothing_to_the_notebook(solved):
    cells = solved.cells()
    for explorable in explorables(solved):
        for control in explorable.controls:
            control.press("x")
    assert solved.cells() == cells


def test_keys_that_mean_the_notebook_still_do_in_a_control(solved):
    for explorable in explorables(solved)[:1]:
        explorable.controls[0].focus()
        solved.save()


def test_opened_without_a_kernel_every_explorable_shows_its_picture_trusted_or_not(solved, other_page):
    pictures = saved_pictures(solved)
    assert all(pictures)
    if not_looked_at(solved):
        return
    copy = f"without_kernel/{solved.file.name}"
    notebook = nbformat.read(solved.file, nbformat.NO_CONVERT)
    notebook.metadata.kernelspec = {"name": "elsewhere", "display_name": "Not on this machine", "language": "elsewhere"}
    notebook.metadata.language_info = {"name": "elsewhere"}
    (solved.lab.root / copy).parent.mkdir(exist_ok=True)
    nbformat.write(notebook, solved.lab.root / copy)  # which is not signed, so not trusted
    with notebook_in(other_page, solved.lab, copy, kernel=False) as page:
        expect_pictures(page.page, pictures)
        page.trust()
        expect(page.page.locator(".gradaccum-still").filter(visible=True)).not_to_have_count(0)
        expect_pictures(page.page, pictures)
        assert page.complaints == []


def test_exported_as_a_page_every_explorable_shows_its_picture(solved, browser, tmp_path):
    if not_looked_at(solved):
        return
    pictures = saved_pictures(solved)
    html, _ = HTMLExporter().from_filename(str(solved.file))
    (tmp_path / "page.html").write_text(html)
    page = browser.new_page(offline=True)
    page.goto((tmp_path / "page.html").as_uri())
    expect_pictures(page, pictures)
    page.close()


def not_looked_at(notebook) -> bool:
    """Every third notebook is opened as a saved page: pictures are kept the same way in all, and a page takes seconds."""
    return int(notebook.file.stem[:2]) % 3 != 0


def saved_pictures(notebook) -> list[str]:
    """Save a notebook; the alternative texts of the pictures in it."""
    notebook.save()
    cells = notebook.sources("explore(")
    return [Explorable(notebook.output_of(cell).locator(".gradaccum-panel:visible")).alt for cell in cells]


def expect_pictures(page, alts: list[str]) -> None:
    """Each picture is seen once, is not a broken one, and no widget excuses itself."""
    for alt in alts:
        picture = page.get_by_alt_text(alt, exact=True).filter(visible=True)
        expect(picture).to_have_count(1)
        assert picture.evaluate("image => image.naturalWidth > 100 && image.width > 100")
    for excuse in ("Error displaying widget", "Loading widget"):
        expect(page.get_by_text(excuse).filter(visible=True)).to_have_count(0)


def test_the_page_complains_about_nothing(solved):
    assert solved.complaints == []
