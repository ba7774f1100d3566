"""What a student sees who opens a released notebook and runs it as it is."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_it_runs_from_top_to_bottom(released):
    assert released.errors() == []
    assert released.not_run() == []


def test_every_check_says_that_its_function_is_not_written_yet(released):
    checks = released.sources("check(")
    assert checks
    for check in checks:
        assert "not written yet" in released.output_of(check).inner_text(), check


def test_the_page_complains_about_nothing(released):
    assert released.complaints == []
