"""It is found out which unit a notebook answers, and which of several attempts counts."""

from __future__ import annotations

import json
import os

import pytest
from handed_in import OTHER, TIME, UNIT, fill, packed, work
from plain_notebook import notebook

from autograder.classroom.intake.attempts import Attempt
from autograder.classroom.intake.source_files import CHUNK
from autograder.classroom.intake.submission_filenames import unit_named
from autograder.classroom.intake.submitted_store import REPLACES
from autograder.classroom.students import LATE_MARK


def test_times_are_stored_in_the_format_that_nbgrader_reads(roster_class):
    roster_class.take({f"ada+{UNIT}+{TIME}+r/{UNIT}.ipynb": work(), f"04_bob_attempt_2026-01-02-03-04-05_{UNIT}.ipynb": work()})
    assert roster_class.time("ada") == TIME
    assert roster_class.time("bob") == "2026-01-02 03:04:05.000000 UTC"


def test_the_time_in_a_collected_folder_is_kept_and_one_that_a_student_packed_is_ignored(roster_class, tmp_path):
    stamped = {f"{UNIT}/{UNIT}.ipynb": work(), f"{UNIT}/timestamp.txt": TIME.encode()}
    zipped = packed(tmp_path / "z.zip", stamped).read_bytes()
    roster_class.take({f"ada/{name}": content for name, content in stamped.items()} | {"bob.zip": zipped})
    assert (roster_class.time("ada"), roster_class.time("bob")) == (TIME, "")


def test_a_time_that_comes_to_light_later_is_noted_and_counted(roster_class):
    roster_class.take({f"ada/{UNIT}/{UNIT}.ipynb": work()})
    timed = {f"ada/{UNIT}/{UNIT}.ipynb": work(), f"ada/{UNIT}/timestamp.txt": b"2026-11-21 11:00 Europe/Berlin"}
    intake = roster_class.take(timed)
    assert intake.summary == "0 taken, 1 unchanged, 0 older, 0 unrecognised, 1 ignored, 1 time noted"
    assert roster_class.time("ada") == TIME
    assert roster_class.take(timed).summary == "0 taken, 1 unchanged, 0 older, 0 unrecognised, 1 ignored"


@pytest.mark.parametrize(
    ("folder", "time", "words"),
    [
        ("ada", TIME, "is not used; a time counts beside its notebook in a folder STUDENT/UNIT, so put both there"),
        (f"ada/{UNIT}", "yesterday", "holds no time; write it like 2026-11-30 23:59 Europe/Berlin"),
    ],
)
def test_a_time_that_is_not_used_is_named_with_what_to_do(roster_class, folder, time, words):
    intake = roster_class.take({f"{folder}/{UNIT}.ipynb": work(), f"{folder}/timestamp.txt": time.encode()})
    assert [str(one) for one in intake.unrecognised] == [f"{folder}/timestamp.txt: {words}"]


def test_a_time_that_a_student_may_have_written_is_neither_used_nor_named(roster_class, tmp_path):
    stamped = {f"{UNIT}/{UNIT}.ipynb": work(), f"{UNIT}/timestamp.txt": TIME.encode()}
    zipped = packed(tmp_path / "z.zip", stamped).read_bytes()
    upload = {f"Bob O'Brien-Smith_12_assignsubmission_file/{name}": content for name, content in stamped.items()}
    repository = {f"04-training-loop-s-1/{name}": content for name, content in stamped.items()}
    intake = roster_class.take({"ada.zip": zipped} | upload | repository)
    assert (len(intake.taken), intake.unrecognised) == (3, ())
    assert [roster_class.time(student) for student in ("ada", "bob", "s-1")] == ["", "", ""]


def test_the_unit_that_the_release_wrote_into_a_notebook_takes_precedence_over_its_name(roster_class):
    roster_class.take({f"ada/{OTHER}.ipynb": work(unit=UNIT)})
    assert roster_class.has("ada", UNIT)


DAMAGED = [b"", b"\xff\xfe\0", b'{"cells": [', work()[:40], bytes(range(256)), b"[" * 10_000, b"PK\x03\x04"]


@pytest.mark.parametrize("content", DAMAGED)
def test_the_unit_of_a_damaged_notebook_is_that_in_its_name(roster_class, content):
    assert roster_class.take({f"ada/{UNIT}-2.ipynb": content}).submissions == (("ada", UNIT),)
    assert roster_class.has("ada") == content


@pytest.mark.parametrize(("unit", "taken"), [(UNIT, 1), (None, 0)])
def test_a_notebook_without_a_unit_is_taken_only_if_the_command_names_one(roster_class, unit, taken):
    intake = roster_class.take({"ada/homework.ipynb": b"{}"}, unit)
    assert len(intake.taken) == taken
    assert all("nothing says which unit" in one.reason for one in intake.unrecognised)


def test_if_nothing_else_does_the_exercises_in_its_cells_tell_the_unit(roster_class):
    roles = {"grade_id": "train_epoch", "solution": True, "grade": False}
    content = json.dumps(notebook(("def train_epoch(): ...", roles))).encode()
    assert roster_class.take({"ada/homework.ipynb": content}).submissions == (("ada", UNIT),)


def test_a_notebook_with_its_unit_is_not_parsed(roster_class, monkeypatch):
    content = work("#" + "x" * 3 * CHUNK)
    monkeypatch.setattr("autograder.classroom.intake.attempts.parse_submission", None)
    assert roster_class.take({"ada.ipynb": content}).submissions == (("ada", UNIT),)


def test_in_the_exchange_a_wrong_notebook_is_named_unless_it_came_with_the_right_one(roster_class):
    intake = roster_class.take(
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
def test_the_newest_of_several_attempts_counts_and_the_others_are_named(roster_class, names):
    intake = roster_class.take({names[0]: work("old"), names[1]: work("new")})
    assert roster_class.has("ada") == work("new")
    assert [one.file for one in intake.taken] == [names[1]]
    assert [(one.file, one.reason) for one in intake.older] == [(names[0], f"{names[1]} is newer")]


def test_if_nothing_else_tells_the_file_written_later_is_newer(roster_class, tmp_path):
    source = fill(tmp_path / "s", {"ada/a.ipynb": work("new"), "ada/b.ipynb": work("old")})
    os.utime(source / "ada/b.ipynb", (1, 1))
    roster_class.take(source)
    assert roster_class.has("ada") == work("new")


def test_taking_the_same_source_again_changes_nothing(roster_class, tmp_path):
    files = {f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work(), f"bob/{UNIT}.ipynb": work(), f"bob/{UNIT} (1).ipynb": work("new")}
    source = fill(tmp_path / "s", files)
    first, before = roster_class.take(source), roster_class.everything()
    again = roster_class.take(source)
    assert roster_class.everything() == before
    assert again.taken == ()
    assert again.submissions == first.submissions


def test_a_replaced_notebook_is_kept_and_an_older_source_does_not_restore_it(roster_class, tmp_path):
    old, new = (fill(tmp_path / name, {"ada.ipynb": work(name)}) for name in ("old", "new"))
    roster_class.take(old)
    roster_class.take(new)
    assert roster_class.has("ada") == work("new")
    assert [path.read_bytes() for path in roster_class.earlier.rglob("*.ipynb")] == [work("old")]
    assert "was replaced before; to take it again" in roster_class.take(old).older[0].reason
    assert roster_class.has("ada") == work("new")


def test_a_file_last_changed_before_the_work_that_counts_was_handed_in_does_not_replace_it(roster_class, tmp_path):
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work("new")})
    mailed = fill(tmp_path / "mail", {"ada.ipynb": work("old")})
    os.utime(mailed / "ada.ipynb", (1_700_000_000, 1_700_000_000))
    (older,) = roster_class.take(mailed).older
    assert "was last changed on 2023-11-14, before what is there was handed in" in older.reason
    assert roster_class.has("ada") == work("new")
    os.utime(mailed / "ada.ipynb", (2**40, 2**40))  # after the last year that there is
    roster_class.take(mailed)
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work("newest")})
    os.utime(mailed / "ada.ipynb", (0, 0))  # not known
    (mailed / "ada.ipynb").write_bytes(work("other"))
    os.utime(mailed / "ada.ipynb", (0, 0))
    assert roster_class.take(mailed).taken[0].reason == REPLACES


def test_what_follows_late_work_is_late_too(roster_class):
    roster_class.take({f"lovelaceada_LATE_12345_7_{UNIT}.ipynb": work("old")})
    late = roster_class.submitted / "ada" / UNIT / LATE_MARK
    assert late.exists()
    roster_class.take({"ada.ipynb": work("new")})
    assert roster_class.has("ada") == work("new")
    assert late.exists()


def test_an_older_submission_does_not_replace_a_newer_one(roster_class):
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work("new")})
    intake = roster_class.take({f"ada+{UNIT}+2026-11-20 10:00:00 UTC/{UNIT}.ipynb": work("old")})
    assert intake.older[0].reason == "is older than what is there, of 2026-11-21 10:00:00 UTC"
    assert roster_class.has("ada") == work("new")


def test_a_replaced_notebook_takes_its_time_along(roster_class):
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work("old")})
    roster_class.take({"ada.ipynb": work("new")})
    assert roster_class.time("ada") == ""
    assert [path.name[:19] for path in roster_class.earlier.rglob("*.ipynb")] == ["2026-11-21T10-00-00"]


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
def test_a_unit_is_recognised_however_it_is_written(text, unit):
    assert unit_named(text) == unit


def test_a_file_that_changes_while_it_is_taken_does_not_replace_an_older_one(roster_class, tmp_path, monkeypatch):
    roster_class.take({"ada.ipynb": work("there")})
    source = fill(tmp_path / "s", {"ada.ipynb": work("new")})
    put = roster_class.store.put

    def changed_meanwhile(attempt, student):
        (source / "ada.ipynb").write_bytes(work("yet another"))
        return put(attempt, student)

    monkeypatch.setattr(roster_class.store, "put", changed_meanwhile)
    assert "changed while it was read" in roster_class.take(source).unrecognised[0].reason
    assert roster_class.has("ada") == work("there")
    assert [path.name for path in roster_class.submitted.rglob("*") if path.is_file()] == [f"{UNIT}.ipynb"]


UNREADABLE = {"empty": b"", "no notebook": b"hello", "a PDF": b"%PDF-1.7 ", "without code": b'{"cells": [], "nbformat": 4}'}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_which_nothing_can_be_read_does_not_replace_work(roster_class, content):
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work()})
    (refused,) = roster_class.take({f"ada+{UNIT}+2026-11-22 10:00:00 UTC/{UNIT}.ipynb": content}).unrecognised
    assert refused.reason.startswith("cannot be taken: ")
    assert refused.reason.endswith("so what was handed in before counts; ask for another copy")
    assert (roster_class.has("ada"), roster_class.time("ada")) == (work(), TIME)


def test_work_takes_the_place_of_a_file_of_which_nothing_can_be_read_even_if_it_is_older(roster_class):
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": b""})
    roster_class.take({f"ada+{UNIT}+2026-11-20 10:00:00 UTC/{UNIT}.ipynb": work()})
    assert roster_class.has("ada") == work()


def test_of_several_attempts_the_newest_counts_of_which_something_can_be_read(roster_class):
    days = {"19": work("x = 1"), "20": work("x = 2"), "21": b"", "22": b"hello"}
    intake = roster_class.take({f"ada+{UNIT}+2026-11-{day} 10:00:00 UTC/{UNIT}.ipynb": data for day, data in days.items()})
    assert roster_class.has("ada") == work("x = 2")
    assert [len(group) for group in (intake.taken, intake.older, intake.unrecognised)] == [1, 1, 2]
    assert "the file is empty, so " in intake.unrecognised[0].reason
    intake = roster_class.take({f"bob+{UNIT}+2026-11-{day} 10:00:00 UTC/{UNIT}.ipynb": days[day] for day in ("21", "22")})
    assert roster_class.has("bob") == days["22"]  # then the student reads what was wrong with it


def test_a_newer_attempt_that_vanishes_while_files_are_taken_leaves_the_older_one(roster_class, tmp_path, monkeypatch):
    older, newer = (f"ada+{UNIT}+2026-11-{day} 10:00:00 UTC/{UNIT}.ipynb" for day in (20, 21))
    source = fill(tmp_path / "s", {older: work("x = 1"), newer: work("x = 2")})
    unreadable = Attempt.unreadable

    def vanished_meanwhile(attempt):
        (source / newer).unlink(missing_ok=True)
        return unreadable(attempt)

    monkeypatch.setattr(Attempt, "unreadable", vanished_meanwhile)
    roster_class.take(source)
    assert roster_class.has("ada") == work("x = 1")


def test_a_folder_that_cannot_be_written_affects_only_its_student(roster_class):
    (roster_class.submitted / "ada").parent.mkdir(parents=True)
    (roster_class.submitted / "ada").touch()
    intake = roster_class.take({"ada.ipynb": work(), "bob.ipynb": work()})
    assert [one.students for one in intake.taken] == [("bob",)]
    assert "cannot be taken" in intake.unrecognised[0].reason
