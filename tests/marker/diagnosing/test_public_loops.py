"""``docs/public_loops.md`` says of loops in the style of public trainers what their files say."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

_spec = importlib.util.spec_from_file_location("public_loops", ROOT / "tests" / "submissions" / "public_loops.py")
script = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = script  # dataclasses look their module up
_spec.loader.exec_module(script)
LOOPS = script.public_loops()


def test_the_page_is_what_the_files_say():
    written = script.PAGE.read_text(encoding="utf-8")
    assert written == script.page(LOOPS), "write it again with python tests/submissions/public_loops.py"


def test_public_loops_are_right_and_wrong_and_spread_over_the_course():
    assert sum(loop.accepted for loop in LOOPS) >= 6
    assert sum(not loop.accepted for loop in LOOPS) >= 14
    assert {"03", "04", "06", "08", "09", "10", "11", "12"} <= {loop.unit[:2] for loop in LOOPS}


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: f"{loop.unit[:2]}/{loop.path.stem}")
def test_every_public_loop_says_where_its_report_can_be_found(loop):
    assert re.fullmatch(r"https://\S+|claims \d+", loop.source)
    assert "|" not in loop.style + loop.report, "or the table breaks"


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: f"{loop.unit[:2]}/{loop.path.stem}")
def test_the_verdict_on_a_public_loop_names_what_its_report_predicts(loop):
    assert set(loop.predicted) <= set(loop.mistakes)
    assert loop.predicted or loop.accepted or not loop.mistakes or loop.report.startswith(script.NO_REPORT)


def test_a_public_loop_that_does_not_mention_its_report_is_refused(tmp_path):
    path = tmp_path / "public_silent.py"
    path.write_text('STYLE = "a trainer"\nEXERCISE = "train_epoch"\n')
    with pytest.raises(ValueError, match="REPORT, SOURCE"):
        script.read(path)
