"""Which unit a notebook answers, and which of several attempts counts."""

from __future__ import annotations

import json
import os

import pytest
from conftest import notebook
from handed_in import OTHER, TIME, UNIT, fill, packed, work

from autograder.classroom.intake.source_files import CHUNK
from autograder.classroom.intake.submission_filenames import unit_named


def test_times_arrive_as_nbgrader_reads_them(room):
    room.take({f"ada+{UNIT}+{TIME}+r/{UNIT}.ipynb": work(), f"04_bob_attempt_2026-01-02-03-04-05_{UNIT}.ipynb": work()})
    assert room.time("ada") == TIME
    assert room.time("bob") == "2026-01-02 03:04:05.000000 UTC"


def test_the_time_in_a_collected_folder_is_kept_and_one_that_a_student_packed_is_not_believed(room, tmp_path):
    stamped = {f"{UNIT}/{UNIT}.ipynb": work(), f"{UNIT}/timestamp.txt": TIME.encode()}
    zipped = packed(tmp_path / "z.zip", stamped).read_bytes()
    room.take({f"ada/{name}": content for name, content in stamped.items()} | {"bob.zip": zipped})
    assert (room.time("ada"), room.time("bob")) == (TIME, "")


def test_what_the_release_wrote_into_a_notebook_tells_the_unit_before_its_name_does(room):
    room.take({f"ada/{OTHER}.ipynb": work(unit=UNIT)})
    assert room.has("ada", UNIT)


DAMAGED = [b"", b"\xff\xfe\0", b'{"cells": [', work()[:40], bytes(range(256)), b"[" * 10_000, b"PK\x03\x04"]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_notebook_is_taken_by_its_name(room, content):
    assert room.take({f"ada/{UNIT}-2.ipynb": content}).submissions == (("ada", UNIT),)
    assert room.has("ada") == content


@pytest.mark.parametrize(("unit", "taken"), [(UNIT, 1), (None, 0)])
def test_a_notebook_that_says_nothing_is_of_the_unit_that_was_named(room, unit, taken):
    intake = room.take({"ada/homework.ipynb": b"{}"}, unit)
    assert len(intake.taken) == taken
    assert all("nothing says which unit" in one.reason for one in intake.unrecognised)


def test_exercises_in_cells_tell_the_unit_if_nothing_else_does(room):
    roles = {"grade_id": "train_epoch", "solution": True, "grade": False}
    content = json.dumps(notebook(("def train_epoch(): ...", roles))).encode()
    assert room.take({"ada/homework.ipynb": content}).submissions == (("ada", UNIT),)


def test_a_large_notebook_need_not_be_parsed(room, monkeypatch):
    content = work("#" + "x" * 3 * CHUNK)
    monkeypatch.setattr("autograder.classroom.intake.attempts.parse_submission", None)
    assert room.take({"ada.ipynb": content}).submissions == (("ada", UNIT),)


def test_the_wrong_notebook_in_the_exchange_is_named_and_the_right_one_beside_others_is_taken(room):
    intake = room.take(
        {
            f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work(),
            f"ada+{UNIT}+{TIME}/{OTHER}.ipynb": work(unit=OTHER),
            f"bob+{UNIT}+{TIME}/{OTHER}.ipynb": work(unit=OTHER),
        }
    )
    assert intake.submissions == (("ada", UNIT),)
    assert f"was handed in as {UNIT} and is {OTHER}" in intake.unrecognised[0].reason
    assert intake.ignored[0].reason == f"came with {UNIT}"


NEWEST = {
    "times": (f"ada+{UNIT}+2026-01-09 10:00:00 UTC/{UNIT}.ipynb", f"ada+{UNIT}+2026-01-10 09:00:00 UTC/{UNIT}.ipynb"),
    "Canvas's numbers": (f"lovelaceada_12345_999_{UNIT}-3.ipynb", f"lovelaceada_LATE_12345_1000_{UNIT}.ipynb"),
    "Blackboard's times": (
        f"04_ada_attempt_2026-01-02-03-04-05_{UNIT}.ipynb",
        f"04_ada_attempt_2026-01-02-13-04-05_{UNIT}.ipynb",
    ),
    "copies": (f"ada/{UNIT}.ipynb", f"ada/{UNIT} (1).ipynb"),
    "Jupyter's copies": (f"ada/{UNIT}-Copy1.ipynb", f"ada/{UNIT}.ipynb"),
    "nbgrader's own name": (f"ada/{UNIT}/{UNIT} (1).ipynb", f"ada/{UNIT}/{UNIT}.ipynb"),
}


@pytest.mark.parametrize("names", NEWEST.values(), ids=NEWEST)
def test_the_newest_of_several_attempts_counts_and_the_others_are_named(room, names):
    intake = room.take({names[0]: work("old"), names[1]: work("new")})
    assert room.has("ada") == work("new")
    assert [one.file for one in intake.taken] == [names[1]]
    assert [(one.file, one.reason) for one in intake.older] == [(names[0], f"{names[1]} is newer")]


def test_a_file_that_was_written_later_is_newer_if_nothing_else_tells(room, tmp_path):
    source = fill(tmp_path / "s", {"ada/a.ipynb": work("new"), "ada/b.ipynb": work("old")})
    os.utime(source / "ada/b.ipynb", (1, 1))
    room.take(source)
    assert room.has("ada") == work("new")


def test_the_same_source_again_changes_nothing(room, tmp_path):
    files = {f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work(), f"bob/{UNIT}.ipynb": work(), f"bob/{UNIT} (1).ipynb": work("new")}
    source = fill(tmp_path / "s", files)
    first, before = room.take(source), room.everything()
    again = room.take(source)
    assert room.everything() == before
    assert again.taken == ()
    assert again.submissions == first.submissions


def test_what_is_replaced_is_kept_and_an_older_source_does_not_bring_it_back(room, tmp_path):
    old, new = (fill(tmp_path / name, {"ada.ipynb": work(name)}) for name in ("old", "new"))
    room.take(old)
    room.take(new)
    assert room.has("ada") == work("new")
    assert [path.read_bytes() for path in room.earlier.rglob("*.ipynb")] == [work("old")]
    assert "was replaced by a newer one before" in room.take(old).older[0].reason
    assert room.has("ada") == work("new")


def test_what_was_handed_in_before_what_is_there_does_not_replace_it(room):
    room.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work("new")})
    intake = room.take({f"ada+{UNIT}+2026-11-20 10:00:00 UTC/{UNIT}.ipynb": work("old")})
    assert intake.older[0].reason == "is older than what is there, of 2026-11-21 10:00:00 UTC"
    assert room.has("ada") == work("new")


def test_the_time_of_a_replaced_notebook_goes_with_it(room):
    room.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work("old")})
    room.take({"ada.ipynb": work("new")})
    assert room.time("ada") == ""
    assert [path.name[:19] for path in room.earlier.rglob("*.ipynb")] == ["2026-11-21T10-00-00"]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Unit 4", UNIT),
        ("unit-04-training-loop", UNIT),
        ("04", UNIT),
        ("week 4", None),
        ("2026-11-21", None),
        ("unit 99", None),
    ],
)
def test_a_unit_is_told_from_the_ways_to_write_it(text, unit):
    assert unit_named(text) == unit


def test_a_file_that_vanishes_or_changes_between_two_looks_leaves_what_was_there(room, tmp_path, monkeypatch):
    room.take({"ada.ipynb": work("there")})
    source = fill(tmp_path / "s", {"ada.ipynb": work("new")})
    put = room.store.put

    def changed_meanwhile(attempt, student):
        (source / "ada.ipynb").write_bytes(work("yet another"))
        return put(attempt, student)

    monkeypatch.setattr(room.store, "put", changed_meanwhile)
    assert "changed while it was read" in room.take(source).unrecognised[0].reason
    assert room.has("ada") == work("there")
    assert [path.name for path in room.submitted.rglob("*") if path.is_file()] == [f"{UNIT}.ipynb"]


def test_a_place_that_cannot_be_written_costs_that_student_only(room):
    (room.submitted / "ada").parent.mkdir(parents=True)
    (room.submitted / "ada").touch()
    intake = room.take({"ada.ipynb": work(), "bob.ipynb": work()})
    assert [one.students for one in intake.taken] == [("bob",)]
    assert "cannot be taken" in intake.unrecognised[0].reason
