"""The slider that plays, on a page of its own: every state has the same picture, and a caption that says which one it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

from gradaccum.phenomena import timeline
from website.kernels.place import place_of_explorable
from website.markup import data_script, with_explorables
from website.pictures import State, all_settings

pytestmark = [pytest.mark.slow, pytest.mark.browser]

STATIC = Path(__file__).parents[2] / "website" / "static"


@pytest.fixture
def explorable(browser, tmp_path):
    """The timeline, opened three moments before its end."""
    states = [
        State("dot.webp", f"{one.loop}, N = {one.accumulation_steps}: {one.moment}", "") for one in all_settings("timeline")
    ]
    (tmp_path / "explorables").mkdir()
    (tmp_path / "explorables" / "timeline.js").write_text(data_script("timeline", states))
    Image.new("RGB", (960, 430), "white").save(tmp_path / "explorables" / "dot.webp")
    body = with_explorables(place_of_explorable("timeline", {"moment": timeline.MOMENTS - 3}), {"timeline": states}, "")
    style = f"<style>{(STATIC / 'gradaccum.css').read_text()}</style>"
    script = f"<script>const DOCUMENTATION_OPTIONS = {{}};{(STATIC / 'gradaccum.js').read_text()}</script>"
    head = f'<meta charset="utf-8"><title>A page</title>{style}{script}'
    page = tmp_path / "page.html"
    page.write_text(f'<!doctype html><html lang="en"><head>{head}</head><body><main><h1>A page</h1>{body}</main></body></html>')
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        tab = context.new_page()
        tab.clock.install()
        tab.goto(page.as_uri())
        tab.locator("form").wait_for()
        yield tab


def moment(number: int) -> str:
    return f"zero-every, N = 4: {number}"


def caption(tab):
    return tab.locator("figcaption")


def press(tab, name: str) -> None:
    tab.get_by_role("button", name=name, exact=True).press("Enter")


def frames(tab, count: int) -> None:
    tab.clock.run_for(count * 700)


def test_playing_shows_one_moment_after_another_and_stops_at_the_last(explorable):
    press(explorable, "Play")
    expect(caption(explorable)).to_have_text(moment(timeline.MOMENTS - 2))
    frames(explorable, 1)
    expect(caption(explorable)).to_have_text(moment(timeline.MOMENTS - 1))
    frames(explorable, 5)
    expect(caption(explorable)).to_have_text(moment(timeline.MOMENTS))
    expect(explorable.locator("output")).to_have_text(str(timeline.MOMENTS))
    expect(explorable.get_by_role("button", name="Play", exact=True)).to_be_focused()


def test_playing_at_the_end_begins_at_the_first_moment(explorable):
    explorable.get_by_role("slider", name="Moment").press("End")
    press(explorable, "Play")
    expect(caption(explorable)).to_have_text(moment(1))
    frames(explorable, 2)
    expect(caption(explorable)).to_have_text(moment(3))


def test_pause_stops_where_it_is(explorable):
    press(explorable, "Play")
    press(explorable, "Pause")
    frames(explorable, 5)
    expect(caption(explorable)).to_have_text(moment(timeline.MOMENTS - 2))


@pytest.mark.parametrize("used", ["slider", "preset"])
def test_any_other_control_stops_it(explorable, used):
    press(explorable, "Play")
    if used == "slider":
        explorable.get_by_role("slider", name="Moment").press("Home")
        stays = moment(1)
    else:
        press(explorable, "Fix")
        stays = "right, N = 4: 8"
    frames(explorable, 5)
    expect(caption(explorable)).to_have_text(stays)


def test_nothing_plays_until_it_is_asked_to(explorable):
    frames(explorable, 5)
    expect(caption(explorable)).to_have_text(moment(timeline.MOMENTS - 3))


def test_slider_answers_arrow_keys_and_has_a_name(explorable):
    explorable.get_by_role("slider", name="Moment").press("ArrowLeft")
    expect(caption(explorable)).to_have_text(moment(timeline.MOMENTS - 4))
    rules = {"runOnly": ["cat.name-role-value", "cat.forms", "cat.aria", "cat.keyboard"]}
    assert Axe().run(explorable, options=rules).response["violations"] == []
