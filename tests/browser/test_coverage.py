"""The browser tests take what they open from folders; nothing is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.publishing.solution_script import unit_scripts
from gradaccum import phenomena

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ROOT = Path(__file__).parents[2]


def test_every_released_notebook_has_a_solved_one():
    assert [path.stem for path in sorted((ROOT / "course").glob("*.ipynb"))] == list(unit_scripts(ROOT / "solutions"))


def test_every_explorable_is_in_a_notebook():
    sources = [script.read_text() for script in unit_scripts(ROOT / "solutions").values()]
    shown = {name for source in sources for name in re.findall(r'^explore\("(\w+)"', source, re.MULTILINE)}
    assert shown == set(phenomena.names())
