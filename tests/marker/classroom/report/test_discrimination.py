"""The discrimination of an exercise is its correlation with all others, or a reason why it has none."""

from __future__ import annotations

import random
from math import nan
from statistics import correlation

import pytest

from autograder.classroom.report.discrimination import MIN_STUDENTS, discriminations
from autograder.classroom.report.student_report import ABSENT, PARTLY, Result, StudentReport
from autograder.classroom.students import Student

MAX_POINTS = (6.0, 3.0, 1.0)


def class_of(rows: list[tuple[float, ...]]) -> list[StudentReport]:
    """Students with these points in three exercises; ``nan`` for one that was not handed in."""
    return [
        StudentReport(
            Student(f"s{number}"),
            tuple(
                Result("u", f"e{k}", PARTLY if points == points else ABSENT, points if points == points else 0.0, most)
                for k, (points, most) in enumerate(zip(row, MAX_POINTS, strict=True))
            ),
        )
        for number, row in enumerate(rows)
    ]


@pytest.fixture
def rows() -> list[tuple[float, ...]]:
    chance = random.Random(3)
    skills = [chance.random() for _ in range(30)]
    return [(round(6 * skill), round(3 * (skill + chance.random()) / 2), float(chance.random() < 0.5)) for skill in skills]


def test_it_is_the_correlation_with_the_share_of_points_in_all_other_exercises(rows):
    found = discriminations(class_of(rows))
    for k, one in enumerate(found):
        rest = [(sum(row) - row[k]) / (sum(MAX_POINTS) - MAX_POINTS[k]) for row in rows]
        assert one.value == pytest.approx(correlation([row[k] for row in rows], rest))
        assert one.low < one.value < one.high
    assert found[0].value > 0.5 > abs(found[2].value)


def test_the_interval_holds_95_percent_of_values_of_exercises_that_tell_nothing():
    chance, held, classes = random.Random(0), 0, 400
    for _ in range(classes):
        rows = [(float(chance.randrange(7)), float(chance.randrange(4)), 0.0) for _ in range(MIN_STUDENTS)]
        one = discriminations(class_of(rows))[0]
        held += one.low <= 0 <= one.high
    assert 0.92 < held / classes < 0.98


def test_a_unit_that_was_not_handed_in_counts_neither_as_zero_nor_among_the_others(rows):
    with_gaps = [(first, second, nan if k % 4 == 0 else third) for k, (first, second, third) in enumerate(rows)]
    found = discriminations(class_of(with_gaps))
    assert [one.students for one in found] == [30, 30, 22]
    rest = [(second + (0 if third != third else third)) / (3 if third != third else 4) for _, second, third in with_gaps]
    assert found[0].value == pytest.approx(correlation([row[0] for row in with_gaps], rest))


def test_with_fewer_than_twenty_students_there_is_a_reason_instead_of_a_value(rows):
    assert discriminations(class_of(rows[:MIN_STUDENTS]))[0].value is not None
    one = discriminations(class_of(rows[: MIN_STUDENTS - 1]))[0]
    assert (one.value, one.reason) == (None, "19 students with marks; 20 are needed")


def test_where_all_have_the_same_points_there_is_a_reason_instead_of_a_value(rows):
    found = discriminations(class_of([(6.0, 3.0, row[2]) for row in rows]))
    assert found[0].reason == "all 30 students have the same points here"
    assert found[2].reason == "all 30 students have the same points in all other exercises"


def test_a_class_without_students_or_results_has_none():
    assert discriminations([]) == discriminations([StudentReport(Student("a"), ())]) == []
