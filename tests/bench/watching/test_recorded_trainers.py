"""The page on real trainers is what their recorded runs make, without any of their libraries."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from gradaccum.real_trainers import RECORDED

TRAINERS = Path(__file__).parents[3] / "trainers"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(TRAINERS)
    yield importlib.import_module("page")
    for name in ("page", "run"):
        sys.modules.pop(name, None)


def test_page_on_trainers_is_what_recorded_runs_make(page):
    assert page.page() == page.PAGE.read_text(), "make trainers writes it"


def test_every_trainer_in_an_environment_is_recorded_as_it_is_now(page):
    runs = list(page.all_runs())
    assert [run.name for run in runs if not run.is_recorded] == []
    assert {run.result for run in runs} == set(RECORDED.glob("*/*.json"))


def test_what_is_said_to_be_repaired_was_named_before_and_is_due_after(page):
    for pair in page.texts()["pair"]:
        before, after = (page.result_of(page.run_called(pair[name])) for name in ("bad", "repaired"))
        assert before["mistakes"], pair["bad"]
        assert after["outcome"] == "due", pair["repaired"]
