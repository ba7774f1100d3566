"""The same class through stock ``nbgrader autograde``, otter-grader, and ours, side by side.

    python benchmarks/marking_throughput.py [SUBMISSIONS] [--without-otter] [--write]

Every way marks unit 04 of each student: right, unusual and wrong loops from ``tests/submissions``, none that hangs, since the
others would wait for it. The ways take turns, twice, so that what else the machine does meets them alike: the slow ones with
another quarter of the class each time, the fast ones with all of it. Seconds, by the clock and of CPU, include all processes
that a way starts, and its start-up; only the floor begins when all is imported. ``--write`` puts the table into
docs/figures.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import otter_class
import process_cost
from nbgrader.api import Gradebook
from process_cost import environment
from table import write_figures

from autograder.classroom.grading.marks_store import MarksStore

ROOT = Path(__file__).resolve().parents[1]
UNIT = "04_training_loop"
SAMPLES = ROOT / "tests" / "submissions" / UNIT
ROUNDS = 2
PARTS = 4
"""Parts of the class; a slow way marks one in each round."""
BUDGET = 16.0
SECRET = re.compile(r'c\.MarkSubmission\.secret = "\w+"')
STOCK_NAME, OURS_NAME, FLOOR_NAME = "stock `nbgrader autograde`", "`gradaccum classroom grade`", "floor: the cells' own work"
PLUGGED_NAME = "`nbgrader autograde` as `classroom init` sets it up"

STOCK = """
c = get_config()
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.Execute.timeout = 240
"""

MARK = """
import json, sys
from pathlib import Path
from autograder.marking.marked_notebook import mark
from autograder.marking.marker import Marker
found = {}
with Marker("bwrap") as marker:
    for name in sys.argv[2:]:
        data = Path("submitted", name, sys.argv[1], sys.argv[1] + ".ipynb").read_bytes()
        found[name] = mark(data, sys.argv[1], marker=marker).marks.score
print(json.dumps({"points": found}))
"""

FLOOR = """
import json, os, sys, time
from pathlib import Path
from autograder.exercises import exercises_of
from autograder.isolation import worker
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import run
from autograder.marking.in_process import trials_of
from autograder.reading.submissions import parse_submission
unit, names, out, err = sys.argv[1], sys.argv[2:], os.dup(1), os.dup(2)
worker.get_ready()  # as a process of the marker does; it takes these away
os.dup2(out, 1)
os.dup2(err, 2)
wall, cpu = time.perf_counter(), time.process_time()
for name in names:
    path = Path("submitted", name, unit, unit + ".ipynb")
    loaded = run(parse_submission(path, path.read_bytes(), unit).cells, Limits())
    for exercise in exercises_of(unit):
        worker.observe_exercise(unit, exercise.id, trials_of(exercise, 0), loaded, Limits())
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}))
"""


@dataclass(eq=False)
class Way:
    """A way to mark, and what it has used so far.

    Attributes:
        name: as it stands in the table.
        command: the command that marks some submissions, by name, and where it is run.
        points: what it gave, by student.
    """

    name: str
    command: Callable[[list[str]], tuple[list[str], Path]]
    wall: float = 0.0
    cpu: float | None = 0.0
    marked: int = 0
    points: dict[str, float] = field(default_factory=dict)

    def run(self, names: list[str]) -> None:
        cost = process_cost.run(*self.command(names))
        wall, cpu = cost.wall, cost.cpu
        said = cost.said.strip().splitlines()[-1:]
        if said and said[0].startswith('{"'):
            found = json.loads(said[0])
            self.points |= found.get("points", {})
            wall, cpu = found.get("wall", wall), found.get("cpu", cpu)
        self.wall += wall
        self.cpu = None if cpu is None or self.cpu is None else self.cpu + cpu
        self.marked += len(names)

    @property
    def each(self) -> float:
        """Seconds for a submission."""
        return self.wall / self.marked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", nargs="?", type=int, default=80)
    parser.add_argument("--without-otter", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print(f"This machine is busy (load {os.getloadavg()[0]:.1f}): expect times that are too long.", file=sys.stderr)
    no_otter = "left out" if options.without_otter else ""
    try:
        if not no_otter:
            otter_class.otter()
    except otter_class.NoOtterError as error:
        no_otter = f"not installed: {error}"
    with tempfile.TemporaryDirectory(prefix="throughput-") as place:
        ways = measure(Path(place), options.submissions, with_otter=not no_otter)
    text = as_markdown(ways, no_otter)
    print(text)
    if options.write:
        write_figures("throughput", text)
    found = {way.name: way for way in ways}
    return 0 if found[STOCK_NAME].each >= BUDGET * found[OURS_NAME].each else 1


def measure(place: Path, submissions: int, with_otter: bool) -> list[Way]:
    """Mark a class in every way."""
    stock, ours, plugged, otter = (place / name for name in ("stock", "ours", "plugged", "otter"))
    names = [f"part{k % PARTS}-{k:03}" for k in range(submissions)]
    _make_classes((stock, ours, plugged), otter if with_otter else None, names)
    autograde = [_program("nbgrader"), "autograde", UNIT, "--student"]
    grade = [_program("gradaccum"), "classroom", "grade", str(ours), "--again"]
    in_parts = {
        Way(STOCK_NAME, lambda some: ([*autograde, f"{some[0][:5]}-*"], stock)): stock,
        Way(PLUGGED_NAME, lambda some: ([*autograde, f"{some[0][:5]}-*"], plugged)): plugged,
    }
    if with_otter:
        name = f"otter-grader {otter_class.version()}, `otter run`"
        in_parts[Way(name, lambda some: (otter_class.grading(otter, some), otter))] = otter
    whole = {
        Way("`mark`, one process", lambda some: ([sys.executable, "-c", MARK, UNIT, *some], ours)): None,
        Way(OURS_NAME, lambda some: (grade, ours)): ours,
        Way(FLOOR_NAME, lambda some: ([sys.executable, "-c", FLOOR, UNIT, *some], ours)): None,
    }
    for part in range(min(ROUNDS, submissions)):
        for way in (*in_parts, *whole):
            print(f"round {part + 1} of {ROUNDS}: {way.name}", file=sys.stderr)
            way.run(names[part::PARTS] if way in in_parts else names)
    for way, folder in (in_parts | whole).items():
        if folder:
            marked = (names[part::PARTS] for part in range(ROUNDS)) if way in in_parts else [names]
            way.points = {name: _points(folder, name, stock=folder != ours) for name in itertools.chain(*marked)}
    return [*in_parts, *whole]


def as_markdown(ways: list[Way], no_otter: str) -> str:
    found = {way.name: way for way in ways}
    stock, floor = found[STOCK_NAME], found[FLOOR_NAME]
    lines = [
        "| marking unit 04 | submissions | seconds each | CPU seconds each | throughput | CPU, by the floor's |",
        "|---|---|---|---|---|---|",
    ]
    for way in ways:
        cpu, by_floor = "", ""
        if way.cpu is not None:
            cpu, by_floor = f"{way.cpu / way.marked:.2f}", f"{way.cpu / way.marked / floor.cpu * floor.marked:.1f} ×"
        lines.append(f"| {way.name} | {way.marked} | {way.each:.2f} | {cpu} | {stock.each / way.each:.1f} × | {by_floor} |")
    if no_otter:
        lines.append(f"| otter-grader, {no_otter} | | | | | |")
    in_all = set.intersection(*(set(way.points) for way in ways if way.points))
    points = {name: {way.name: way.points[name] for way in ways if way.points} for name in sorted(in_all)}
    disputed = {name: said for name, said in points.items() if len(set(said.values())) > 1}
    for name, said in disputed.items():
        print(f"{name} got different points: {said}", file=sys.stderr)
    cores = len(os.sched_getaffinity(0))
    text = (
        f"Budget: ≥ {BUDGET:g} × for {OURS_NAME}, which uses all {cores} cores; the others use one. The floor is what reading"
        " the notebooks, running their cells and observing their functions takes in a process that has everything imported,"
        " without a sandbox and without judging; all others include their start-up."
        f" Of {len(points)} submissions that all ways have marked, {len(points) - len(disputed)} got the same points from each."
        " Measured with `python benchmarks/marking_throughput.py --write`."
    )
    return "\n".join([*lines, "", text])


def _make_classes(classes: Sequence[Path], otter: Path | None, names: Sequence[str]) -> None:
    """Classes with the same students, who hand in the same; for otter a folder of notebooks."""
    for folder in classes:
        _run("gradaccum", "classroom", "init", str(folder), "--units", "04")
        config = folder / "nbgrader_config.py"  # the problems of a class are its own; here all ways get those of the notebook
        config.write_text(STOCK if folder.name == "stock" else SECRET.sub("c.MarkSubmission.seed = 0", config.read_text()))
        _run("gradaccum", "classroom", "release", str(folder))
    if otter:
        otter_class.prepare(otter, UNIT)
    for name, sample in zip(names, itertools.cycle(sorted(SAMPLES.glob("*/*.py"))), strict=False):
        notebook = nbformat.read(classes[0] / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
        code = sample.read_text(encoding="utf-8")
        exercise = re.search(r'^EXERCISE = "(\w+)"', code, re.MULTILINE)[1]
        cell = next(cell for cell in notebook.cells if cell.id == f"{exercise}-solution")
        cell.source = code
        for folder in classes:
            place = folder / "submitted" / name / UNIT
            place.mkdir(parents=True)
            nbformat.write(notebook, place / f"{UNIT}.ipynb")
        if otter:
            otter_class.hand_in(notebook, otter / "submitted" / f"{name}.ipynb")


def _points(folder: Path, name: str, stock: bool) -> float:
    """What was given to a submission: by otter, by nbgrader, or by us."""
    if folder.name == "otter":
        return otter_class.points(folder, name)
    if not stock:
        return MarksStore(folder).read(name, UNIT).score
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return sum(grade.auto_score or 0.0 for book in gradebook.find_submission(UNIT, name).notebooks for grade in book.grades)


def _run(program: str, *arguments: str) -> None:
    subprocess.run([_program(program), *arguments], check=True, capture_output=True, env=environment())


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


if __name__ == "__main__":
    sys.exit(main())
