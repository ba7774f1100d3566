"""A class as it is after the deadline: students, notebooks in every state that notebooks arrive in, ready to be graded.

    python benchmarks/synthetic_class.py DIR [--students 200] [--units 03,04,06] [--seed 0]

The same seed gives the same bytes in ``DIR/submitted`` and ``DIR/roster.csv``. ``DIR/handed_in.csv`` says of every student and
unit what is there. How much of what: see ``MIX``.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from synthetic_notebooks import MAKERS, Notebook

from autograder.classroom.gradebook.enrolment import enrol
from autograder.classroom.gradebook.roster import read_roster
from autograder.classroom.students import Student
from autograder.publishing.nbgrader_course import CONFIG, SOLUTIONS, config_text, course_directory, make_course, pick_units
from autograder.publishing.solution_script import unit_scripts

MIX = {
    "right": (17, "all exercises right, written in usual and unusual ways"),
    "one mistake": (11, "one exercise wrong"),
    "two mistakes": (6, "two mistakes, in one exercise or in two"),
    "half done": (5, "some exercises as they were released"),
    "damaged": (4, "right, but the notebook's cells, format or file have suffered"),
    "not handed in": (2, "nothing there"),
    "syntax error": (1, "one exercise is not Python"),
    "endless": (1, "one exercise, or the notebook, never ends"),
    "untouched": (1, "the notebook as it was released"),
    "empty": (1, "a file without a byte"),
    "hostile": (1, "an attack on marking, in front of right exercises"),
}
"""What is handed in, and how often in 50 notebooks."""

FIRST_NAMES = ("Ada", "Boris", "Chen", "Dalia", "Emeka", "Fatima", "Hana", "Ines", "João", "Kofi", "Pía", "Søren", "Tomás")
LAST_NAMES = ("Adeyemi", "Bauer", "Costa", "Dvořák", "Eriksen", "Fischer", "García", "Haddad", "Ito", "Jansen", "López")


@dataclass(frozen=True)
class HandedIn:
    """What a student has for a unit.

    Attributes:
        student, unit: ids.
        kind: one of ``MIX``.
        made_of: the names of what it is made of.
        data: the bytes of the file; None if nothing was handed in.
    """

    student: str
    unit: str
    kind: str
    made_of: tuple[str, ...]
    data: bytes | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--units", default="03,04,06")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        units = tuple(pick_units(unit_scripts(SOLUTIONS), [options.units]))
        made = make_class(options.directory, options.students, units, options.seed)
    except (ValueError, OSError) as error:
        print(f"synthetic_class.py: {error}", file=sys.stderr)
        return 2
    counts = Counter(one.kind for one in made)
    print(f"{options.directory}: {options.students} students, units {', '.join(units)}")
    print("\n".join(f"{counts[kind]:6} {kind}" for kind in MIX))
    return 0


def make_class(directory: Path, students: int, units: Sequence[str], seed: int) -> list[HandedIn]:
    """Make an nbgrader course directory with a roster, released units and what was handed in.

    Args:
        directory: new or empty.
        students: how many.
        units: their full names.
        seed: chooses students, what they hand in, and the hidden problems of the class.

    Returns:
        What was handed in, without the bytes.

    Raises:
        ValueError: the directory holds something else.
        OSError: it cannot be written.
    """
    from autograder.classroom.release import release_unit
    from autograder.hosts.provisioner import install_kernelspec

    if directory.exists() and any(directory.iterdir()):
        raise ValueError(f"{directory} is not empty; name a new directory")
    scripts = unit_scripts(SOLUTIONS)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / CONFIG).write_text(config_text(f"benchmark {seed}"), encoding="utf-8")
    make_course(directory, {unit: scripts[unit] for unit in units})
    install_kernelspec()
    made = write_handed_in(directory, students, units, seed)
    coursedir = course_directory(directory)
    enrol(read_roster(directory / "roster.csv").students, coursedir.db_url)
    for unit in units:
        release_unit(coursedir, unit)
    return made


def write_handed_in(directory: Path, students: int, units: Sequence[str], seed: int) -> list[HandedIn]:
    """Write the roster, ``submitted/`` and the list of what it holds; its rows without the bytes come back."""
    people, made = roster(students, seed), []
    _write_table(directory / "roster.csv", ["id", "first_name", "last_name", "email"], map(astuple, people))
    for one in handed_in(people, units, seed):
        if one.data is not None:
            place = directory / "submitted" / one.student / one.unit / f"{one.unit}.ipynb"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(one.data)
        made.append(replace(one, data=None))
    rows = ([one.student, one.unit, one.kind, " + ".join(one.made_of)] for one in made)
    _write_table(directory / "handed_in.csv", ["student", "unit", "kind", "made_of"], rows)
    return made


def roster(number: int, seed: int) -> list[Student]:
    """Students with ids in order and names by chance. A smaller class is the beginning of a larger one."""
    chance, people = random.Random(f"roster/{seed}"), []
    for k in range(1, number + 1):
        first, last = chance.choice(FIRST_NAMES), chance.choice(LAST_NAMES)
        people.append(Student(f"s{k:04}", first, last, f"s{k:04}@example.org"))
    return people


def handed_in(people: Sequence[Student], units: Sequence[str], seed: int) -> Iterator[HandedIn]:
    """What students hand in, one after the other, in the proportions of ``MIX`` from 50 to 50."""
    kinds = _kinds(seed)
    for student in people:
        for unit in units:
            kind = next(kinds)
            chance = random.Random(f"{seed}/{student.id}/{unit}")
            data, made_of = MAKERS[kind](unit, chance)
            yield HandedIn(student.id, unit, kind, made_of, as_bytes(data) if isinstance(data, dict) else data)


def as_bytes(notebook: Notebook) -> bytes:
    """A notebook as a file; what is damaged may have characters that UTF-8 has not, so they are escaped."""
    return (json.dumps(notebook, indent=1) + "\n").encode()


def _kinds(seed: int) -> Iterator[str]:
    chance, deck = random.Random(f"mix/{seed}"), [kind for kind, (count, _) in MIX.items() for _ in range(count)]
    while True:
        chance.shuffle(deck)
        yield from deck


def _write_table(path: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
