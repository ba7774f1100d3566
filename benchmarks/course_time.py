"""How long the course takes to execute: every unit's solutions notebook, from top to bottom, against the budget.

    python benchmarks/course_time.py [--write] [UNIT …]

Each notebook is executed by nbclient in a fresh kernel, start-up included, one after the other. ``--write`` puts the table into
docs/figures.md; it wants all units. Exits with status 1 if the course is over its budget or a notebook fails.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from figures import machine
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from table import write_figures

from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.solution_script import source_notebook, unit_scripts

BUDGET = 15 * 60.0
"""Seconds for the whole course."""

CELL_TIMEOUT = 600
"""Seconds for one cell; a right one needs a tenth of that."""


def main() -> int:
    """Execute, print, and write if asked to."""
    scripts = unit_scripts(SOLUTIONS)
    parser = argparse.ArgumentParser(prog="course_time.py")
    parser.add_argument("units", nargs="*", metavar="UNIT", help="all of them if none is named")
    parser.add_argument("--write", action="store_true", help="put the table into docs/figures.md")
    asked = parser.parse_args()
    if asked.write and asked.units:
        parser.error("--write wants the whole course: name no unit")
    if unknown := set(asked.units) - scripts.keys():
        parser.error(f"there is no unit {min(unknown)!r}; there are {', '.join(scripts)}")
    if os.getloadavg()[0] > 0.5:
        print(f"This machine is busy (load {os.getloadavg()[0]:.1f}): expect times that are too long.", file=sys.stderr)
    times: dict[str, float] = {}
    for unit in asked.units or scripts:
        try:
            times[unit] = execute(scripts[unit])
        except CellExecutionError as error:
            print(f"course_time.py: unit {unit} does not run: {error.ename}: {error.evalue}", file=sys.stderr)
            return 1
    text = as_markdown(times)
    print(text)
    if asked.write:
        write_figures("course-time", text)
    return 0 if sum(times.values()) <= BUDGET else 1


def execute(script: Path) -> float:
    """Seconds that a unit's notebook takes in a kernel of its own, in an empty folder; no student's results are touched.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook = source_notebook(script)
    with tempfile.TemporaryDirectory(prefix="gradaccum-") as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=CELL_TIMEOUT, kernel_name="python3", resources=resources)
        environment = os.environ | {"GRADACCUM_RESULTS": str(Path(folder, "results.json"))}
        began = time.perf_counter()
        client.execute(env=environment)
        return time.perf_counter() - began


def as_markdown(times: Mapping[str, float]) -> str:
    """The table: seconds per unit and their sum."""
    lines = ["| solutions notebook, executed from top to bottom | seconds |", "|---|---|"]
    lines += [f"| {unit.replace('_', ' ')} | {seconds:.1f} |" for unit, seconds in times.items()]
    lines.append(f"| together (budget {BUDGET / 60:.0f} minutes) | {sum(times.values()):.0f} |")
    said = machine().replace("benchmarks/figures.py", "benchmarks/course_time.py")
    return "\n".join(lines) + f"\n\n{said}\n"


if __name__ == "__main__":
    sys.exit(main())
