"""The built site, opened as files in a browser: no server is there to help, and no other host is asked."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from explorable import key_for
from playwright.sync_api import Browser, Locator, Page, expect

from gradaccum import phenomena

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def opened(browser: Browser, page: Path, **options) -> Iterator[tuple[Page, list[str]]]:
    """The page, loaded, and a list that its errors and its requests to other places are added to."""
    complaints: list[str] = []
    with browser.new_context(**{"viewport": DESKTOP} | options) as context:
        tab = context.new_page()
        tab.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        tab.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
        tab.goto(page.as_uri())
        yield tab, complaints


def pages_of(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def explorables_on(tab: Page) -> list[Locator]:
    """The explorables of a page, each scrolled to and alive."""
    found = tab.locator(".explorable").all()
    for one in found:
        one.scroll_into_view_if_needed()
        one.locator("form").wait_for()
    return found


def shown_settings(explorable: Locator):
    """The settings that the controls say."""
    module = phenomena.load(explorable.get_attribute("data-name"))
    texts = explorable.locator("select, input").evaluate_all(
        "boxes => boxes.map(b => b.type === 'checkbox' ? (b.checked ? 'on' : 'off') : b.selectedOptions?.[0].text ?? b.value)"
    )
    named = zip(dataclasses.fields(module.Settings), texts, strict=True)
    return module.Settings(**{field.name: phenomena.offered(field)[text] for field, text in named})


def caption_of(name: str, settings) -> str:
    module = phenomena.load(name)
    return module.describe(module.compute(settings))


LEAVE_OUT_REPEATED_TOKENS = """() => {
    const seen = {};
    for (const token of document.querySelectorAll('.highlight span[class]')) {
        const block = token.closest('.highlight').parentElement;
        const sort = [token.className, token.parentElement.className, block.className].join('/');
        seen[sort] = (seen[sort] ?? 0) + 1;
        if (seen[sort] > 2) token.dataset.repeated = '';
    }
}"""
"""Tokens of code look alike if they are of one sort, and axe takes seconds for all that a page has."""

POINT_OUT_NEW_COLOURS = """seen => {
    const all = document.querySelectorAll('body *');
    for (const element of all) delete element.dataset.new;
    for (const element of all) {
        if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
        if (!element.checkVisibility()) continue;
        const own = getComputedStyle(element), sort = [own.color, own.fontSize, own.fontWeight];
        for (let one = element; one; one = one.parentElement) {
            const style = getComputedStyle(one);
            sort.push(style.backgroundColor, style.backgroundImage, style.opacity);
        }
        const key = sort.join();
        seen[key] = (seen[key] ?? 0) + 1;
        if (seen[key] <= 2) element.dataset.new = '';
    }
    return [seen, document.querySelectorAll('[data-new]').length];
}"""
"""Texts of one size and colour on the same backgrounds have one contrast, and axe takes minutes for those of all pages."""


WIDEST = """() => Math.max(
    ...[...document.querySelectorAll('html, .pst-scrollable-table-container')].map(one => one.scrollWidth)
)"""
"""The width of a page, or of its widest table."""


def violations(tab: Page, context: dict, **options) -> list[str]:
    """What axe finds on a page, or in a part of it."""
    options |= {"preload": False, "resultTypes": ["violations"]}
    found = Axe().run(tab, context, options).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:300]}" for one in found]


@dataclasses.dataclass(frozen=True)
class Visit:
    """What a page was like: its errors and requests to other places, what axe found, and the width that it needs on a phone."""

    complaints: list[str]
    violations: list[str]
    width: int


@pytest.fixture(scope="module")
def visits(browser, site) -> dict[str, Visit]:
    """A visit to each page, by its path. Every other page is loaded in dark, and becomes light afterwards."""
    found = {}
    colours: dict[str, dict[str, int]] = {"light": {}, "dark": {}}
    with opened(browser, site / "index.html", reduced_motion="reduce") as (tab, complaints):
        for number, page in enumerate(pages_of(site)):
            schemes = ("light", "dark") if number % 2 else ("dark", "light")
            tab.goto("about:blank")
            complaints.clear()  # of what the page before had not yet loaded
            tab.set_viewport_size(DESKTOP)
            tab.emulate_media(color_scheme=schemes[0])
            tab.goto(page.as_uri())
            explorables_on(tab)
            tab.evaluate(LEAVE_OUT_REPEATED_TOKENS)
            rules = {"color-contrast": {"enabled": False}}
            said = violations(tab, {"exclude": [["[data-repeated]"]]}, rules=rules)
            for scheme in schemes:
                tab.emulate_media(color_scheme=scheme)
                expect(tab.locator("html")).to_have_attribute("data-theme", scheme)
                colours[scheme], new = tab.evaluate(POINT_OUT_NEW_COLOURS, colours[scheme])
                if new:
                    contrast = violations(tab, {"include": [["[data-new]"]]}, runOnly=["color-contrast"])
                    said += [f"{scheme}: {one}" for one in contrast]
            tab.set_viewport_size(PHONE)
            width = tab.evaluate(WIDEST)
            found[str(page.relative_to(site))] = Visit([*complaints], said, width)
    assert all(len(seen) > 10 for seen in colours.values())
    return found


def test_pages_load_without_errors_or_other_hosts(visits):
    assert {page: visit.complaints for page, visit in visits.items() if visit.complaints} == {}


def test_axe_finds_no_violation_in_light_and_dark(visits):
    """All that differs in dark is contrast."""
    assert {page: visit.violations for page, visit in visits.items() if visit.violations} == {}


def test_pages_fit_on_a_phone(visits):
    assert {page: visit.width for page, visit in visits.items() if visit.width > PHONE["width"]} == {}


def test_wide_picture_stays_legible_on_a_phone_and_is_scrolled_by_keys(browser, site):
    with opened(browser, site / "explorables.html", viewport=PHONE) as (tab, complaints):
        place = explorables_on(tab)[0].locator(".scrolling")
        assert place.locator("img").bounding_box()["width"] == 720
        place.focus()
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function("place => place.scrollLeft > 0", arg=place.element_handle())
        assert not complaints


def test_links_within_the_site_lead_somewhere(site):
    soups = {page: BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser") for page in pages_of(site)}
    anchors = {page: {tag["id"] for tag in soup.find_all(id=True)} for page, soup in soups.items()}
    dead = []
    for page, soup in soups.items():
        for link in (tag.get("href") or tag.get("src") for tag in soup.find_all(["a", "img", "link", "script"])):
            parts = urlsplit(link or "")
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            fragment_known = not parts.fragment or target not in anchors or parts.fragment in anchors[target]
            if not target.is_file() or not fragment_known:
                dead.append(f"{page.relative_to(site)}: {link}")
    assert not dead, "\n".join(dead)


def test_every_control_of_every_explorable_answers_a_key_with_its_own_picture(browser, site):
    moved = set()
    for page in (page for page in pages_of(site) if 'class="explorable"' in page.read_text(encoding="utf-8")):
        with opened(browser, page) as (tab, complaints):
            for explorable in explorables_on(tab):
                name, picture = explorable.get_attribute("data-name"), explorable.locator("img")
                for control in explorable.locator("select, input").all():
                    before = picture.get_attribute("alt")
                    control.press(key_for(control))
                    expect(picture).not_to_have_attribute("alt", before)
                    assert picture.get_attribute("alt") == caption_of(name, shown_settings(explorable))
                    assert explorable.locator("figcaption").text_content() == picture.get_attribute("alt")
                    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth >= 2 * image.width)")
                    moved.add((name, control.evaluate("box => box.labels[0].innerText")))
            assert not complaints
    assert {name for name, _ in moved} == {"equivalence", "fingerprint_reading", "gallery"}


def test_presets_set_all_controls_at_once(browser, site):
    with opened(browser, site / "explorables.html") as (tab, _):
        for explorable in explorables_on(tab):
            name = explorable.get_attribute("data-name")
            module = phenomena.load(name)
            presets = {label: one for label, one in module.PRESETS.items() if one != module.Settings()} | {
                "Reset": module.Settings()
            }
            for label, preset in presets.items():
                explorable.get_by_role("button", name=label, exact=True).press("Enter")
                expect(explorable.locator("img")).to_have_attribute("alt", caption_of(name, preset))
                assert shown_settings(explorable) == preset


def test_number_out_of_range_becomes_the_nearest_one_offered(browser, site):
    with opened(browser, site / "fingerprints.html") as (tab, complaints):
        explorable = explorables_on(tab)[0]
        number = explorable.locator("input[type=number]")
        number.fill("1000")
        number.blur()
        expect(number).to_have_value(number.get_attribute("max"))
        assert explorable.locator("img").get_attribute("alt") == caption_of("fingerprint_reading", shown_settings(explorable))
        assert not complaints


def test_committed_predictions_are_judged_on_the_page(browser, site):
    with opened(browser, site / "course" / "00_start_here.html") as (tab, _):
        said = []
        for choice in ("(g1 + g2 + g3 + g4) / 4", "g4, the latest"):
            tab.reload()
            prediction = tab.locator("form.prediction").first
            expect(prediction.get_by_role("button")).to_be_disabled()
            prediction.get_by_label(choice).check()
            prediction.get_by_role("button").press("Enter")
            said.append(prediction.get_by_role("alert").text_content())
            expect(prediction.get_by_role("radio").first).to_be_disabled()
    right, wrong = said
    assert right.startswith("✓ Right. A large batch averages")
    assert wrong.startswith("✗ Not so. You said: g4, the latest. It is: (g1 + g2 + g3 + g4) / 4. A large batch averages")


def test_code_with_the_answer_of_a_prediction_is_folded(browser, site):
    with opened(browser, site / "course" / "00_start_here.html") as (tab, _):
        expect(tab.get_by_text("answer=").first).to_be_hidden()


def test_verdicts_of_checks_are_on_the_pages_of_units(browser, site):
    with opened(browser, site / "course" / "03_accumulate.html") as (tab, _):
        expect(tab.get_by_text("accumulate_gradient: 0 of 6 points, not written yet").last).to_be_visible()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_first_screen_has_four_doors_and_a_live_explorable(browser, site, viewport):
    with opened(browser, site / "index.html", viewport=viewport) as (tab, _):
        tab.locator(".explorable form").wait_for()
        assert tab.locator(".doors a").count() == 4
        shown = [tab.locator(place).last.bounding_box()["y"] for place in (".doors a", ".explorable form", ".explorable img")]
        assert max(shown) < viewport["height"], shown


def test_search_finds_pages_without_a_server(browser, site):
    with opened(browser, site / "search.html") as (tab, complaints):
        tab.goto(f"{(site / 'search.html').as_uri()}?q=BatchNorm")
        expect(tab.locator("#search-results a", has_text="07 · When equivalence breaks").first).to_be_visible()
        assert not complaints


def test_printed_pages_show_pictures_and_no_controls(browser, site):
    with opened(browser, site / "fingerprints.html") as (tab, _):
        explorables_on(tab)
        tab.emulate_media(media="print")
        expect(tab.locator(".explorable img").first).to_be_visible()
        assert not any(form.is_visible() for form in tab.locator(".explorable form, .bd-header").all())


def test_explorables_come_in_the_order_of_the_course_and_link_to_their_units(site):
    page = BeautifulSoup((site / "explorables.html").read_text(encoding="utf-8"), "html.parser")
    sections = [one.find_parent("section") for one in page.select("section.explorable")]
    assert {one.select_one(".explorable")["data-name"]: one.select_one("p a")["href"] for one in sections} == {
        "fingerprint_reading": "course/00_start_here.html",
        "equivalence": "course/03_accumulate.html",
        "gallery": "course/04_training_loop.html",
    }
    linked = [one.select_one("p a")["href"] for one in sections]
    assert linked == sorted(linked)


def test_every_page_of_the_navigation_has_one_main_heading(site):
    pages = [page for page in pages_of(site) if page.name not in ("search.html", "genindex.html")]
    headings = {page.relative_to(site): len(re.findall(r"<h1[ >]", page.read_text(encoding="utf-8"))) for page in pages}
    assert {page: count for page, count in headings.items() if count != 1} == {}
