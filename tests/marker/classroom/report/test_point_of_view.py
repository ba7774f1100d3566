"""The report can be limited to units and to a date: nobody is missing what was not due, and nothing later counts."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sample_class import CLASS, EARLIER, POINTS, UNIT, marks

from autograder.classroom.grading.marks_store import ExerciseMarks, PartMarks, StudentMarks
from autograder.classroom.report.class_data import ClassData, read_class
from autograder.classroom.report.class_report import class_report
from autograder.classroom.report.page import report_csv, report_html
from autograder.classroom.report.point_of_view import as_of, end_of, only_units
from autograder.classroom.report.student_report import ABSENT, NOT_DUE, SOLVED, WAITING, StudentReport
from autograder.publishing.nbgrader_course import CONFIG, config_text

BEFORE, DUE, AFTER = datetime(2026, 11, 9), datetime(2026, 11, 10), datetime(2026, 11, 12)
HANDED_IN = datetime(2026, 11, 8)


def earlier(student: str) -> StudentMarks:
    return StudentMarks(
        student, EARLIER, "k", "cpu", 1.0, (ExerciseMarks("accumulate_gradient", (PartMarks("p", "t", 6, 6, ""),)),)
    )


DATA = replace(CLASS, marks=(*CLASS.marks, earlier("a")), handed_in=CLASS.handed_in | {("a", EARLIER)}, due={EARLIER: DUE})
"""Ada alone has handed in unit 03 as well, before it was due."""


def student(data: ClassData, name: str) -> StudentReport:
    return next(one for one in class_report(data).students if one.person.id == name)


def states(data: ClassData, name: str, unit: str) -> set[str]:
    return {result.state for result in student(data, name).results if result.unit == unit}


def test_before_a_unit_is_due_nobody_needs_help_because_it_is_missing():
    assert student(as_of(DATA, AFTER), "b").reasons[0] == "no notebook handed in for unit 03"
    before = as_of(DATA, BEFORE)
    assert states(before, "b", EARLIER) == {NOT_DUE}
    assert student(before, "b").reasons == student(CLASS, "b").reasons
    assert (student(before, "b").max_points, student(before, "b").share) == (10, 0.5)
    assert class_report(before).units[0].absent == 0


def test_a_unit_that_was_not_released_is_held_against_nobody():
    released = {unit: {"accumulate_gradient": 6.0} if unit == EARLIER else dict(POINTS) for unit in (EARLIER, UNIT)}
    data = replace(DATA, due={})
    assert states(replace(data, cells=released), "b", EARLIER) == {ABSENT}
    assert states(replace(data, cells={UNIT: released[UNIT]}), "b", EARLIER) == {NOT_DUE}
    assert states(replace(data, cells={UNIT: released[UNIT]}), "d", UNIT) == {ABSENT}


def test_what_was_handed_in_before_it_was_due_counts():
    assert states(as_of(DATA, BEFORE), "a", EARLIER) >= {SOLVED}


def test_a_student_with_extra_time_misses_nothing_until_that_is_over():
    extended = replace(DATA, extra_time={("b", EARLIER): timedelta(days=7)})
    assert states(as_of(extended, AFTER), "b", EARLIER) == {NOT_DUE}
    assert states(as_of(extended, AFTER), "c", EARLIER) == {ABSENT}


def test_a_student_to_whom_nothing_was_due_needs_no_help_and_has_handed_in_nothing():
    data = only_units(as_of(DATA, BEFORE), [EARLIER])
    assert (student(data, "d").reasons, student(data, "d").handed_in) == ((), False)


def test_what_was_handed_in_later_is_left_out_with_its_grades_and_penalties():
    late = replace(DATA, times={("b", UNIT): AFTER}, penalties={("b", UNIT): 1.0, ("a", UNIT): 2.0})
    seen = as_of(late, DUE)
    assert states(seen, "b", UNIT) == {ABSENT}
    assert seen.penalties == {("a", UNIT): 2.0}
    assert states(as_of(late, AFTER), "b", UNIT) == states(CLASS, "b", UNIT)


def test_what_was_replaced_later_counts_as_not_marked():
    data = replace(DATA, times={("b", UNIT): AFTER}, first_times={("b", UNIT): HANDED_IN})
    assert states(as_of(data, DUE), "b", UNIT) == {WAITING}
    assert states(as_of(data, HANDED_IN - timedelta(days=1)), "b", UNIT) == {ABSENT}


def test_the_page_says_as_of_when_it_is_and_how_many_times_are_not_known():
    made = class_report(as_of(replace(DATA, times={("a", UNIT): HANDED_IN}), DUE + timedelta(hours=12)))
    page = " ".join(report_html(made, AFTER).split())
    assert "as of 10 November 2026, 12:00 UTC" in page
    assert "It is not known when 3 submissions were handed in; they count" in page


def test_what_is_not_due_yet_has_neither_points_nor_a_verdict_in_the_table():
    rows = list(csv.DictReader(io.StringIO(report_csv(class_report(as_of(DATA, BEFORE))))))
    assert {(row["score"], row["passed"]) for row in rows if row["state"] == NOT_DUE} == {("", "")}


def test_a_page_as_of_a_date_names_that_day():
    assert "as of the end of 16 November 2026, made on" in report_html(class_report(as_of(DATA, end_of("2026-11-16"))), AFTER)


def test_a_report_on_some_units_has_no_points_of_others():
    made = class_report(only_units(DATA, [EARLIER]))
    assert [unit.unit for unit in made.units] == [EARLIER]
    assert {result.unit for one in made.students for result in one.results} == {EARLIER}


def test_a_dropped_exercise_is_in_no_sum_and_named_on_the_page():
    made = class_report(replace(CLASS, dropped=frozenset({(UNIT, "train_epoch")})))
    assert {one.person.id: one.max_points for one in made.students} == dict.fromkeys("abcd", 4)
    assert "Dropped, so left out here: <code>train_epoch</code>." in report_html(made, AFTER)


def test_a_date_means_the_end_of_that_day_here_and_a_time_needs_a_zone():
    local = datetime(2026, 11, 17).astimezone(UTC).replace(tzinfo=None)
    assert end_of("2026-11-16") == local
    assert end_of("2026-11-16 12:00 +02:00") == datetime(2026, 11, 16, 10)
    with pytest.raises(ValueError, match="write it like"):
        end_of("yesterday")


def test_times_due_dates_and_extra_time_are_read_from_the_class(tmp_path):
    (tmp_path / CONFIG).write_text(config_text(""))
    (tmp_path / "deadlines.csv").write_text(
        f"unit,student,due,extra_days\n{UNIT},,2026-11-10 01:00 +01:00,\n{UNIT},b,,2\n", encoding="utf-8"
    )
    (tmp_path / "dropped.csv").write_text(f"unit,exercise,reason\n{UNIT},train_epoch,\n", encoding="utf-8")
    for place, name in (("submitted", f"{UNIT}.ipynb"), ("submitted-earlier", "2026-11-08T00-00-00-0123456789abcdef.ipynb")):
        (tmp_path / place / "a" / UNIT).mkdir(parents=True)
        (tmp_path / place / "a" / UNIT / name).write_text("{}")
    (tmp_path / "submitted/a" / UNIT / "timestamp.txt").write_text("2026-11-12 00:00:00 UTC")
    data = read_class(tmp_path)
    assert (data.due, data.extra_time) == ({UNIT: DUE}, {("b", UNIT): timedelta(days=2)})
    assert (data.times, data.first_times) == ({("a", UNIT): AFTER}, {("a", UNIT): HANDED_IN})
    assert data.dropped == {(UNIT, "train_epoch")}


def test_a_damaged_file_is_a_reason_to_ask_its_student():
    data = replace(CLASS, marks=(replace(marks("a"), damage="is damaged (see line 3); 5 cells of it could be read"),))
    assert student(data, "a").reasons == ("file damaged, and marked as far as it can be read, in unit 04",)
