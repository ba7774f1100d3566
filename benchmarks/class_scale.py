"""Grade classes of growing size as an instructor does, and compare with marking each submission alone.

    python benchmarks/class_scale.py [--sizes 25,50,100,200] [--units 03,04,06] [--compare N] [--write]

For each size a class is made (see :mod:`synthetic_class`) and ``gradaccum classroom grade`` run on it once, on this machine,
with as many workers as it has cores. What that costs is measured as :mod:`process_cost` says. Then up to N of its submissions
(all, if N is 0) are marked again, one after the other in one process, by :func:`autograder.marking.marked_notebook.mark` with
the seed of the class: points, named mistakes and messages must be the same.

Figures are kept from run to run while the commit is the same, so sizes may be measured one at a time. ``--write`` puts the
table into docs/figures.md. Exits with status 1 if any marks differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from process_cost import run
from synthetic_class import make_class
from table import write_figures
from tqdm import tqdm

from autograder.classroom.grading.class_to_mark import ClassToMark, HandedIn
from autograder.classroom.grading.marks_store import StudentMarks, student_marks
from autograder.marking.marked_notebook import mark
from autograder.marking.marker import Marker
from autograder.publishing.nbgrader_course import SOLUTIONS, pick_units
from autograder.publishing.solution_script import unit_scripts

ROOT = Path(__file__).resolve().parents[1]
KEPT_FIGURES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradaccum" / "class_scale.json"
SOME_COMPLAINTS = 1
"""Exit status of ``grade`` if it marked, but has something to say."""


@dataclass(frozen=True)
class Row:
    """What grading a class cost.

    Attributes:
        students, units, submissions: the size of the class.
        wall, cpu: seconds of ``grade``; ``cpu`` is None where it cannot be counted.
        memory: bytes at the peak.
        workers: how many processes marked.
        alone: seconds it took to mark those compared alone.
        compared, different: submissions marked again, and how many of them got other marks then.
    """

    students: int
    units: str
    submissions: int
    wall: float
    cpu: float | None
    memory: int
    workers: int
    alone: float
    compared: int
    different: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="25,50,100,200", help="students, such as 25,50")
    parser.add_argument("--units", default="03,04,06")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", type=int, default=0, metavar="N", help="at most so many of each class; 0 for all")
    parser.add_argument("--folder", type=Path, help="keep the classes here; a temporary one if not given")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print(f"This machine is busy (load {os.getloadavg()[0]:.1f}): expect times that are too long.", file=sys.stderr)
    units = tuple(pick_units(unit_scripts(SOLUTIONS), [options.units]))
    with tempfile.TemporaryDirectory(prefix="scale-") as temporary:
        for size in map(int, options.sizes.split(",")):
            keep(measure(options.folder or Path(temporary), size, units, options.seed, options.compare))
    rows = kept()
    text = as_markdown(rows)
    print(text)
    if options.write:
        write_figures("scale", text)
    return 1 if any(row.different for row in rows) else 0


def measure(folder: Path, size: int, units: tuple[str, ...], seed: int, most: int) -> Row:
    """Make a class, grade it, and mark some of it again."""
    directory = folder / f"class-{size}"
    print(f"{size} students: making the class", file=sys.stderr)
    make_class(directory, size, units, seed)
    print(f"{size} students: grading", file=sys.stderr)
    grade = [str(Path(sys.executable).with_name("gradaccum")), "classroom", "grade", str(directory)]
    cost = run(grade, ROOT, accepted=(0, SOME_COMPLAINTS))
    if cost.status:
        print(cost.said, file=sys.stderr)
    to_mark = ClassToMark(directory)
    submissions, _ = to_mark.handed_in()
    compared = submissions[:: max(1, -(-len(submissions) // most))] if most else submissions
    began = time.perf_counter()
    different = compare(to_mark, compared)
    alone = time.perf_counter() - began
    codes = ",".join(unit[:2] for unit in units)
    cores = len(os.sched_getaffinity(0))
    row = (size, codes, len(submissions), cost.wall, cost.cpu, cost.memory, min(cores, len(submissions)), alone)
    return Row(*row, len(compared), different)


def compare(graded: ClassToMark, submissions: list[HandedIn]) -> int:
    """How many submissions get other marks alone than in their class; prints which on standard error."""
    different = 0
    with Marker("bwrap") as marker:
        for one in tqdm(submissions, desc="alone", file=sys.stderr):
            job = graded.job(one, graded.template(one.unit))
            marks = mark(job.data, job.unit, seed=job.seed, marker=marker, template=job.template).marks
            alone, there = student_marks(job.student, job.key, 0.0, marks), graded.store.read(one.student, one.unit)
            if there is None or there.exercises != alone.exercises:
                different += 1
                tqdm.write(f"{one.student}, {one.unit}: {_difference(alone, there)}", file=sys.stderr)
    return different


def _difference(alone: StudentMarks, there: StudentMarks | None) -> str:
    if there is None:
        return "not marked in the class"
    for a, b in zip(alone.exercises, there.exercises, strict=True):
        if a != b:
            return (
                f"{a.id} alone: {a.parts}, {a.mistakes}, {a.failure}\n{b.id} in the class: {b.parts}, {b.mistakes}, {b.failure}"
            )
    return ""


def keep(row: Row) -> None:
    """Remember a row, together with those of other sizes measured with the same commit."""
    rows = {one.students: one for one in kept() if one.units == row.units} | {row.students: row}
    KEPT_FIGURES.parent.mkdir(parents=True, exist_ok=True)
    KEPT_FIGURES.write_text(
        json.dumps({"commit": _commit(), "rows": [asdict(rows[size]) for size in sorted(rows)]}, indent=1) + "\n"
    )


def kept() -> list[Row]:
    """The rows measured with this commit."""
    content = json.loads(KEPT_FIGURES.read_text()) if KEPT_FIGURES.exists() else {}
    return [Row(**row) for row in content.get("rows", ())] if content.get("commit") == _commit() else []


def as_markdown(rows: list[Row]) -> str:
    head = (
        "students × units",
        "submissions",
        "minutes",
        "seconds each",
        "CPU seconds each",
        "peak memory",
        "marked alone: different",
    )
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cpu = "" if row.cpu is None else f"{row.cpu / row.submissions:.2f}"
        cells = (
            f"{row.students} × {row.units.count(',') + 1}",
            str(row.submissions),
            f"{row.wall / 60:.1f}",
            f"{row.wall / row.submissions:.2f}",
            cpu,
            f"{row.memory / 2**30:.1f} GB",
            f"{row.different} of {row.compared}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    workers = max(row.workers for row in rows)
    text = (
        "Budget: 3.5 minutes for 200 × 3 where stock `nbgrader autograde` takes 5.06 s for a submission of unit 04, as it did"
        " on the machine for which the budget was set; the table above says what it takes on this one."
        f" `gradaccum classroom grade`, {workers} workers, start-up and gradebook included. Memory: the sum of proportional set"
        " sizes of all its processes. Different alone: submissions that got other marks there, of those tried."
        f" Units {rows[-1].units} as `benchmarks/synthetic_class.py` fills them;"
        " measured with `python benchmarks/class_scale.py --write`."
    )
    return "\n".join([*lines, "", text])


@cache
def _commit() -> str:
    """That of the beginning: a later one must not lose what has been measured."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
