"""``docs/claims.md`` is the ledger that the experiments write: the same rows, and no verdict they do not give."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| (\d+) \| (.+?) \| \*\*(.+?)\*\* \| (.+) \| (\d\d) \|$", PAGE, re.MULTILINE)

_spec = importlib.util.spec_from_file_location("benchmarks_claims", ROOT / "benchmarks" / "claims.py")
script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)
EXPERIMENTS = {script.row_of(experiment): experiment for experiment in script.experiments()}


def test_the_page_lists_exactly_the_rows_that_have_experiments_in_order():
    assert [int(row) for row, *_ in LISTED] == sorted(EXPERIMENTS)
    assert PAGE.count("\n| ") == len(LISTED) + 1, "and no row is badly written"


@pytest.mark.parametrize(("row", "claim", "verdict", "figure", "unit"), LISTED, ids=[f"row {row}" for row, *_ in LISTED])
def test_claim_verdict_and_unit_of_a_row_are_those_its_experiment_can_give(row, claim, verdict, figure, unit):
    experiment = EXPERIMENTS[int(row)]
    assert f'"{verdict}"' in inspect.getsource(experiment)
    assert f'"{claim}"' in inspect.getsource(experiment)
    assert inspect.getmodule(experiment).UNIT[:2] == unit
    assert any(letter.isdigit() for letter in figure), "a verdict stands on a measured number"


@pytest.mark.parametrize(("row", "verdict"), [(row, verdict) for row, _, verdict, *_ in LISTED])
def test_the_page_has_the_verdict_that_the_test_of_each_row_asserts(row, verdict):
    sources = "".join(path.read_text() for path in Path(__file__).parent.glob("test_claims_unit_*.py"))
    found = re.findall(rf"^def test_row_{row}_.+\n    assert row_{row}\(\)\.verdict == (.+)$", sources, re.MULTILINE)
    assert found == [f'"{verdict}"']


def test_two_experiments_for_one_row_are_refused(monkeypatch, tmp_path):
    for unit in ("98", "99"):
        (tmp_path / f"experiments_unit_{unit}.py").write_text("def row_1(): ...\n\n\nEXPERIMENTS = (row_1,)\n")
    monkeypatch.setattr(script, "EXPERIMENTS", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"rows \[1\] have two experiments"):
        script.experiments()
