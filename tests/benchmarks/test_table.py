"""The pages that benchmarks write their tables into."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from table import FIGURES, write_figures

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE_OF = {
    name: page
    for page in sorted(FIGURES.parent.glob("*.md"))
    for name in re.findall("<!-- ([\\w-]+):begin -->", page.read_text(encoding="utf-8"))
}
NAMES = [name for path in BENCHMARKS.glob("*.py") for name in re.findall(r'write_figures\("([\w-]+)"', path.read_text())]


def test_every_table_on_a_page_is_written_by_a_benchmark():
    assert sorted(NAMES) == sorted(PAGE_OF)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_that_is_written_again_replaces_itself_and_nothing_else(tmp_path, name):
    page = Path(shutil.copy(PAGE_OF[name], tmp_path))
    write_figures(name, "| new |\n", page)
    pattern = re.compile(f"<!-- {name}:begin -->(.*)<!-- {name}:end -->", re.DOTALL)
    assert pattern.search(page.read_text())[1] == "\n\n| new |\n\n"
    assert pattern.sub("", page.read_text()) == pattern.sub("", PAGE_OF[name].read_text())


def test_a_table_that_has_no_place_on_the_page_is_refused(tmp_path):
    page = Path(shutil.copy(FIGURES, tmp_path))
    with pytest.raises(ValueError, match=r"<!-- unknown:begin --> … <!-- unknown:end --> stands there 0 times, not once"):
        write_figures("unknown", "| new |", page)
    assert page.read_text() == FIGURES.read_text()
