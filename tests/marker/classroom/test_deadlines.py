"""Deadlines are read from a table that people write: a date without a time zone is no date, and bad cells are named."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace

import pytest

from autograder.classroom.csv_tables import TableError
from autograder.classroom.deadlines import DEADLINES, Deadlines, read_deadlines, stamped, write_deadlines, written

UNIT = "03_accumulate"
BERLIN = "2026-11-30 23:59 Europe/Berlin"


@pytest.fixture
def course(tmp_path):
    return SimpleNamespace(root=str(tmp_path))


@pytest.mark.parametrize(
    ("text", "in_utc"),
    [
        (BERLIN, datetime(2026, 11, 30, 22, 59)),
        ("2026-06-30T23:59 Europe/Berlin", datetime(2026, 6, 30, 21, 59)),
        ("2026-11-30 23:59 -05:00", datetime(2026, 12, 1, 4, 59)),
        ("2026-11-30 23:59+0530", datetime(2026, 11, 30, 18, 29)),
        ("2026-11-30 23:59:00Z", datetime(2026, 11, 30, 23, 59)),
    ],
)
def test_a_due_date_is_kept_in_utc_as_nbgrader_keeps_it(text, in_utc):
    assert Deadlines({UNIT: written(text)}).due_in_utc(UNIT) == in_utc


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026-11-30 23:59", "does not say in which time zone; write it like 2026-11-30 23:59 Europe/Berlin"),
        ("30.11.2026 23:59 CET", "is no date with a time"),
        ("2026-11-30 CET", "is no date with a time"),
        ("2026-11-31 23:59 CET", "is no date"),
        ("2026-11-30 23:59 Mars/Olympus", "No time zone found with key Mars/Olympus"),
        ("2026-11-30 23:59 ../etc/passwd", "is no date"),
    ],
)
def test_a_date_that_cannot_be_used_is_refused_with_an_example(text, words):
    with pytest.raises(ValueError, match="write it like") as error:
        written(text)
    assert words in str(error.value)


def test_the_time_of_a_submission_is_read_as_strictly_as_a_due_date():
    assert stamped("2026-11-21 10:00:00.123456 UTC\n") == datetime(2026, 11, 21, 10, 0, 0, 123456)
    assert stamped("2026-11-21 10:00 Europe/Berlin") == datetime(2026, 11, 21, 9)
    for text in ("07.11.2026 10:00", "7/11/2026 10:00 Europe/Berlin", "2026-11-21 10:00", "2026-11-21 10:00 Europe/Berln"):
        with pytest.raises(ValueError, match="write it like"):
            stamped(text)


def test_extra_days_are_counted_in_hours_across_the_end_of_summer_time():
    deadlines = Deadlines({UNIT: "2026-10-24 23:59 Europe/Berlin"}, {("bob", UNIT): 2})
    assert deadlines.until("bob", UNIT) == "2026-10-26 22:59 Europe/Berlin"
    assert deadlines.until("ada", UNIT) == "2026-10-24 23:59 Europe/Berlin"


def test_deadlines_are_read_as_they_were_written_without_those_that_were_taken_back(course):
    write_deadlines(course, Deadlines({UNIT: BERLIN, "04_training_loop": ""}, {("bob", UNIT): 1.5, ("eve", UNIT): 0}))
    assert read_deadlines(course) == Deadlines({UNIT: BERLIN}, {("bob", UNIT): 1.5})
    write_deadlines(course, Deadlines())
    assert not DEADLINES.path(course).exists()


def test_a_table_written_by_hand_may_name_units_by_number_and_use_semicolons(course):
    DEADLINES.path(course).write_text(f"student;unit;due;extra_days\n;03;{BERLIN};\n\nbob;03;;1,5\n")
    assert read_deadlines(course) == Deadlines({UNIT: BERLIN}, {("bob", UNIT): 1.5})


def test_every_bad_cell_is_named_with_its_line_and_column(course):
    DEADLINES.path(course).write_text("unit,student,due,extra_days\n03,,2026-11-30 23:59,\n03,bob,,soon\n03,eve,,-1\n")
    with pytest.raises(TableError) as error:
        read_deadlines(course)
    lines = str(error.value).splitlines()
    assert [line.partition("deadlines.csv, ")[2].partition(":")[0] for line in lines] == [
        "line 2, column due",
        "line 3, column extra_days",
        "line 4, column extra_days",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("unit,due\n", "line 1: no column 'student'; the first line should be unit,student,due,extra_days"),
        ("unit,student,due,extra_days\n03,,a,b,c\n", "line 2: 5 values where the first line names 4"),
        ('unit,student,due,extra_days\n03,"bob', "a quotation mark too many or too few"),
        ("", "line 1: no column 'unit'"),
    ],
)
def test_a_table_of_another_form_is_refused(course, text, words):
    DEADLINES.path(course).write_text(text)
    with pytest.raises(TableError) as error:
        read_deadlines(course)
    assert words in str(error.value)


@pytest.mark.parametrize("change", [Deadlines(), Deadlines({}, {("bob", UNIT): 1})])
def test_a_table_is_put_back_if_what_follows_fails(course, change):
    def fail() -> None:
        with DEADLINES.kept_on_errors(course):
            write_deadlines(course, change)
            raise RuntimeError

    write_deadlines(course, Deadlines({UNIT: BERLIN}))
    with pytest.raises(RuntimeError):
        fail()
    assert read_deadlines(course) == Deadlines({UNIT: BERLIN})
