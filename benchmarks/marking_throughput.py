"""The same class through stock ``nbgrader autograde`` and through ``mark``, side by side.

    python benchmarks/marking_throughput.py [SUBMISSIONS] [--write]

Each way runs in a process of its own that marks one submission after the other; seconds, by the clock and of CPU, include all
processes it starts, and its start-up. The ways take turns on quarters of the class, so that what else the machine does meets
them alike.
``--write`` puts the table into the README.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
UNIT = "04_training_loop"
SAMPLES = ROOT / "tests" / "submissions" / UNIT
ROUNDS = 4
BUDGET = 3.0
MARKERS = re.compile(r"(<!-- throughput:begin -->\n).*(<!-- throughput:end -->)", re.DOTALL)

STOCK = """
c = get_config()
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.Execute.timeout = 240
"""

MARK = """
import sys
from pathlib import Path
from autograder.marked_notebook import mark
from autograder.marking import Marker
with Marker("bwrap") as marker:
    for name in sys.argv[2:]:
        mark(Path("submitted", name, sys.argv[1], sys.argv[1] + ".ipynb").read_bytes(), sys.argv[1], marker=marker)
"""


@dataclass
class Way:
    """A way to mark, and what it has used so far."""

    name: str
    wall: float = 0.0
    cpu: float = 0.0
    marked: int = 0

    def run(self, command: list[str], folder: Path, submissions: int) -> None:
        used, began = _children_cpu(), time.perf_counter()
        subprocess.run(
            command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_environment()
        )
        self.wall += time.perf_counter() - began
        self.cpu += _children_cpu() - used
        self.marked += submissions

    @property
    def rate(self) -> float:
        """Submissions a minute."""
        return 60 * self.marked / self.wall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", nargs="?", type=int, default=40)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="throughput-") as place:
        ways = measure(Path(place), options.submissions)
    text = as_markdown(ways)
    print(text)
    if options.write:
        readme = ROOT / "README.md"
        readme.write_text(MARKERS.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", readme.read_text()))
    return 0 if ways[1].rate >= BUDGET * ways[0].rate else 1


def measure(place: Path, submissions: int) -> list[Way]:
    """Mark a class both ways."""
    stock_class, our_class = place / "stock", place / "ours"
    for folder in (stock_class, our_class):
        _run("gradaccum", "classroom", "init", str(folder), "--units", "04", cwd=place)
    (stock_class / "nbgrader_config.py").write_text(STOCK)
    for folder in (stock_class, our_class):
        _run("nbgrader", "generate_assignment", UNIT, cwd=folder)
    names = [f"part{k % ROUNDS}-{k:03}" for k in range(submissions)]
    for name, sample in zip(names, itertools.cycle(sorted(SAMPLES.glob("*/*.py"))), strict=False):
        for folder in (stock_class, our_class):
            _hand_in(folder, name, sample)
    stock, ours = Way("stock `nbgrader autograde`"), Way("`mark`, one process")
    plugged = Way("`nbgrader autograde` as `classroom init` sets it up")
    for part in range(min(ROUNDS, submissions)):
        some = names[part::ROUNDS]
        autograde = [_program("nbgrader"), "autograde", UNIT, "--student", f"part{part}-*"]
        stock.run(autograde, stock_class, len(some))
        ours.run([sys.executable, "-c", MARK, UNIT, *some], our_class, len(some))
        plugged.run(autograde, our_class, len(some))
        print(f"{(part + 1) * 100 // ROUNDS} %", file=sys.stderr)
    return [stock, ours, plugged]


def as_markdown(ways: list[Way]) -> str:
    lines = ["| marking unit 04 | submissions | seconds each | CPU seconds each | throughput |", "|---|---|---|---|---|"]
    for way in ways:
        ratio = f"{way.rate / ways[0].rate:.1f} ×"
        lines.append(f"| {way.name} | {way.marked} | {way.wall / way.marked:.2f} | {way.cpu / way.marked:.2f} | {ratio} |")
    command = "`python benchmarks/marking_throughput.py --write`"
    budget = f"Budget: ≥ {BUDGET:g} × for `mark`. Start-up is included, four times for each way; measured with {command}."
    return "\n".join([*lines, "", budget])


def _hand_in(folder: Path, name: str, sample: Path) -> None:
    notebook = nbformat.read(folder / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "train_epoch-solution")
    cell.source = sample.read_text(encoding="utf-8")
    place = folder / "submitted" / name / UNIT
    place.mkdir(parents=True)
    nbformat.write(notebook, place / f"{UNIT}.ipynb")


def _run(program: str, *arguments: str, cwd: Path) -> None:
    subprocess.run([_program(program), *arguments], cwd=cwd, check=True, capture_output=True, env=_environment())


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1"}


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
