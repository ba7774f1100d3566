"""Try out what the sources claim and write ``docs/claims.md``: ``python benchmarks/claims.py``.

The experiments are those of ``tests/claims/experiments_unit_*.py``, each a function that returns one row of the ledger. Nothing
on the page is typed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

ROOT = Path(__file__).parent.parent
EXPERIMENTS = ROOT / "tests" / "claims"
PAGE = ROOT / "docs" / "claims.md"

HEAD = """# The claims ledger

What texts on gradient accumulation claim, and what experiment says. Each row is an experiment in
[`tests/claims`](../tests/claims) that could come out the other way, and the tests repeat it; the course shows it in the unit
named. `python benchmarks/claims.py` runs all of them and writes this page. Times are those of the machine it last ran on.
Words such as window and ragged are explained [where the course begins](../course/00_start_here.ipynb).

| # | claim | verdict | measured | unit |
|---|---|---|---|---|
"""


def main() -> None:
    """Run every experiment and write the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    torch.set_num_threads(1)
    claims = [experiment() for experiment in experiments()]
    PAGE.write_text(page(claims), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(claims)} rows")


def experiments() -> list[Callable]:
    """All experiments, in the order of their rows.

    Raises:
        ValueError: two of them are for the same row.
    """
    if str(EXPERIMENTS) not in sys.path:
        sys.path.insert(0, str(EXPERIMENTS))
    modules = [importlib.import_module(path.stem) for path in sorted(EXPERIMENTS.glob("experiments_unit_*.py"))]
    found = sorted((experiment for module in modules for experiment in module.EXPERIMENTS), key=row_of)
    rows = [row_of(experiment) for experiment in found]
    if twice := sorted({row for row in rows if rows.count(row) > 1}):
        raise ValueError(f"rows {twice} have two experiments each")
    return found


def row_of(experiment: Callable) -> int:
    """The row an experiment is for, by its name: ``row_12``."""
    return int(experiment.__name__.removeprefix("row_"))


def page(claims: Iterable) -> str:
    """The page with a row for each claim."""
    return HEAD + "".join(
        f"| {one.row} | {_cell(one.claim)} | **{_cell(one.verdict)}** | {_cell(one.figure)} | {one.unit[:2]} |\n"
        for one in claims
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
