"""The class that benchmarks mark is always the same, and has everything in it that it says."""

from __future__ import annotations

import csv
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
import synthetic_class
from synthetic_class import MIX, as_bytes, handed_in, roster, write_handed_in
from synthetic_notebooks import MAKERS

from autograder.classroom.gradebook.roster import read_roster
from autograder.reading.submissions import SubmissionError, parse_submission
from autograder.released import exercises_in, released_content

UNIT = "03_accumulate"


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def small_class(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("class")
    write_handed_in(directory, 6, [UNIT], seed=1)
    return directory


def test_the_same_seed_gives_the_same_bytes(small_class, tmp_path):
    write_handed_in(tmp_path, 6, [UNIT], seed=1)
    assert files(tmp_path) == files(small_class)


def test_another_seed_gives_another_class(small_class, tmp_path):
    write_handed_in(tmp_path, 6, [UNIT], seed=2)
    assert files(tmp_path) != files(small_class)


def test_a_smaller_class_is_the_beginning_of_a_larger_one(small_class, tmp_path):
    write_handed_in(tmp_path, 3, [UNIT], seed=1)
    smaller, larger = files(tmp_path), files(small_class)
    submitted = {name for name in smaller if name.startswith("submitted")}
    assert submitted
    assert {name: larger[name] for name in submitted} == {name: smaller[name] for name in submitted}


def test_the_list_says_what_is_there(small_class):
    with (small_class / "handed_in.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    there = {path.parent.parent.name for path in small_class.glob(f"submitted/*/{UNIT}/{UNIT}.ipynb")}
    assert [row["student"] for row in rows] == [student.id for student in read_roster(small_class / "roster.csv").students]
    assert {row["student"] for row in rows if row["kind"] != "not handed in"} == there


def test_fifty_notebooks_have_the_stated_proportions(monkeypatch):
    monkeypatch.setattr(synthetic_class, "MAKERS", dict.fromkeys(MIX, lambda unit, chance: (b"", ())))
    kinds = Counter(one.kind for one in islice(handed_in(roster(20, 0), [UNIT, "04_training_loop", "x"], 0), 50))
    assert kinds == {kind: count for kind, (count, _) in MIX.items()}
    assert kinds.total() == 50


@pytest.mark.parametrize("kind", MIX)
def test_every_kind_of_notebook_can_be_marked_or_is_refused_as_unreadable(kind):
    made, _ = MAKERS[kind](UNIT, random.Random(0))
    if kind == "not handed in":
        assert made is None
        return
    try:
        submission = parse_submission(Path("x.ipynb"), as_bytes(made) if isinstance(made, dict) else made, UNIT)
    except SubmissionError:
        assert kind in ("empty", "damaged")
    else:
        assert {f"{name}-solution" for name in exercises_in(released_content(UNIT))} <= {cell.id for cell in submission.cells}
