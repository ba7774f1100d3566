"""What a student sees who opens a released notebook and runs it as it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_notebook_runs_from_top_to_bottom(released):
    assert released.errors() == []
    assert released.not_run() == []


def test_every_check_says_that_its_function_is_not_written_yet(released):
    assert released.checks()
    for check in released.checks():
        expect(released.output_of(check)).to_contain_text("points, not written yet")


def test_the_page_complains_about_nothing(released):
    assert released.complaints == []
