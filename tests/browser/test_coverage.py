"""The browser tests take what they look at from folders; here it is said that nothing is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.publishing.solution_script import unit_scripts
from gradaccum import phenomena

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ROOT = Path(__file__).parents[2]


def test_every_unit_is_looked_at_solved_and_released():
    assert [path.stem for path in sorted((ROOT / "course").glob("*.ipynb"))] == list(unit_scripts(ROOT / "solutions"))


def test_every_explorable_is_in_a_notebook():
    sources = [script.read_text() for script in unit_scripts(ROOT / "solutions").values()]
    shown = {name for source in sources for name in re.findall(r'^explore\("(\w+)"', source, re.MULTILINE)}
    assert shown == set(phenomena.names())
