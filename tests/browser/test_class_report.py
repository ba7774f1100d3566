"""The class report in a real browser, opened from disk: it sends no request, sorts, and prints on whole pages."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from sample_class import dealt_class
from themes import text_of_too_little_contrast

from autograder.classroom.report.class_report import ClassReport, class_report
from autograder.classroom.report.page import write_report

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def report() -> ClassReport:
    return class_report(dealt_class(("04_training_loop",), 80, each=2))


@pytest.fixture(scope="module")
def file(report, tmp_path_factory):
    return write_report(report, tmp_path_factory.mktemp("report") / "report.html", datetime(2026, 11, 20))[0]


@pytest.fixture
def page(browser, file):
    """The page, and what it asked for and complained of."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.requests, page.complaints = [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(file.as_uri())
    yield page
    page.close()


def names(page) -> list[str]:
    return [text.split(" s0")[0] for text in page.locator(".map tbody th").all_inner_texts()]


def sums(page) -> list[float]:
    return [float(text) for text in page.locator(".map tbody .sum").all_inner_texts() if text != "–"]


def test_the_report_opens_from_disk_and_loads_nothing_else(page, file):
    assert page.requests == [file.as_uri()]
    assert page.complaints == []


def test_the_report_is_no_wider_than_the_screen(page):
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_on_every_background(page, scheme):
    page.emulate_media(color_scheme=scheme)
    assert text_of_too_little_contrast(page) == []


@pytest.mark.parametrize("width", [1280, 700])
def test_headings_of_the_heat_map_are_not_cut_off(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.add_style_tag(content=".map thead th { font-size: 20px !important }")
    heads = page.locator(".map thead tr:first-child th div").evaluate_all(
        "divs => divs.map(div => div.scrollWidth - div.parentElement.clientWidth)"
    )
    assert max(heads) <= 0


def test_a_click_on_a_heading_sorts_and_another_turns_the_order_round(page, report):
    page.get_by_role("button", name="student", exact=True).click()
    assert names(page) == sorted((one.person.name for one in report.students), key=str.lower)
    page.get_by_role("button", name="all points").click()
    assert sums(page) == sorted((one.points for one in report.students if one.marked), reverse=True)
    page.get_by_role("button", name="all points").click()
    assert sums(page) == sorted(one.points for one in report.students if one.marked)
    assert page.locator(".map th[aria-sort=ascending]").count() == 1


def test_the_printed_report_is_a4_and_repeats_the_heads_of_the_heat_map_on_every_page(page, report):
    pages = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", page.pdf(prefer_css_page_size=True))
    assert {tuple(round(float(one)) for one in box.split()[2:]) for box in pages} == {(595, 842)}
    page.emulate_media(media="print")
    assert page.locator(".map thead").evaluate("head => getComputedStyle(head).display") == "table-header-group"
    assert page.locator(".heat").evaluate("section => getComputedStyle(section).breakBefore") == "page"
