"""Verdicts, reports and progress are legible on pages of every theme."""

from __future__ import annotations

import pytest
import torch
from themes import THEMES, text_of_too_little_contrast, themed

import gradaccum
from autograder.desk.progress import progress
from autograder.desk.results import Result
from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function
from autograder.showing.answers_html import answers_html
from autograder.showing.verdict_html import as_html
from gradaccum.loops import GALLERY
from gradaccum.notebook.explore import listing_html
from gradaccum.notebook.showing import show_fingerprint
from gradaccum.phenomena import Listing
from gradaccum.problems import Problem

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TRAIN = all_exercises()["train_epoch"]


def watched() -> str:
    """The report on a loop that does not divide."""
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with gradaccum.watch(model, 4) as seen:
        for _ in range(2):
            for _ in range(4):
                model(torch.randn(2, 4)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return seen._repr_html_()


@pytest.fixture(scope="module")
def shown() -> str:
    """HTML of every kind: right, wrong and missing, with all colours of cells and notes."""
    loops = ("no-scale", "tail-dropped", "lr-scaled-too", "stale-start", "right")
    verdicts = "".join(as_html(mark_function(TRAIN, GALLERY[name])) for name in loops)
    answers = answers_html([("Shows `this`.", "x = 1\n")]).replace("<details>", "<details open>")
    results = {"train_epoch": Result(1.0, False, 1), "accumulate_gradient": Result(6.0, True, 1)}
    listings = listing_html(Listing("x = 1", True), 1) + listing_html(Listing("x = 2", False), 1)
    return verdicts + watched() + answers + progress(results).as_html() + listings


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_enough_contrast(browser, shown, theme):
    page = browser.new_page(viewport={"width": 1280, "height": 3000})
    page.set_content(themed(theme, shown))
    assert text_of_too_little_contrast(page) == []
    page.close()


@pytest.mark.parametrize("attribute", ['data-jp-theme-light="false"', 'class="vscode-dark"'])
def test_pictures_are_dark_on_dark_pages_and_light_on_others(browser, attribute):
    picture = show_fingerprint(GALLERY["no-scale"], Problem(width=8))._repr_mimebundle_()["text/html"]
    page = browser.new_page()
    page.set_content(f"<body {attribute}>{picture}<span>here</span></body>")
    assert page.locator("img").evaluate("image => getComputedStyle(image).filter") != "none"
    page.set_content(f"<body>{picture}</body>")
    assert page.locator("img").evaluate("image => getComputedStyle(image).filter") == "none"
    page.close()
