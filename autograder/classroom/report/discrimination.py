"""How well each exercise tells students apart: its corrected item-total correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np

from autograder.classroom.report.student_report import UNDECIDED, StudentReport
from autograder.support.counted import counted

MIN_STUDENTS = 20
"""With fewer students the correlation of an exercise that tells nothing is often as large as that of a good one."""
NORMAL_95 = 1.96
"""Standard deviations on each side of the mean that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class Discrimination:
    """The correlation of the points of an exercise with the share of points in all other exercises.

    Attributes:
        students: how many have marks for this exercise and for another one.
        value: None if there are too few students, or if all of them have the same points.
        low, high: limits of the 95 % confidence interval, by Fisher's transformation.
        reason: why there is no value; empty if there is one.
    """

    students: int
    value: float | None = None
    low: float = 0.0
    high: float = 0.0
    reason: str = ""


def discriminations(students: Sequence[StudentReport]) -> list[Discrimination]:
    """The discrimination of each exercise, in the order of the students' results."""
    if not students or not students[0].results:
        return []
    most = np.array([result.max_points for result in students[0].results])
    decided = np.array([[result.state not in UNDECIDED for result in student.results] for student in students])
    points = np.array([[result.points for result in student.results] for student in students]) * decided
    others_most = (decided * most).sum(axis=1, keepdims=True) - decided * most
    others = points.sum(axis=1, keepdims=True) - points
    found = []
    for column in range(len(most)):
        rows = decided[:, column] & (others_most[:, column] > 0)
        found.append(_correlation(points[rows, column], others[rows, column] / others_most[rows, column]))
    return found


def _correlation(points: np.ndarray, rest: np.ndarray) -> Discrimination:
    number = len(points)
    if number < MIN_STUDENTS:
        return Discrimination(number, reason=f"{counted(number, 'student')} with marks; {MIN_STUDENTS} are needed")
    if np.ptp(points) < 1e-9 or np.ptp(rest) < 1e-9:
        which = "here" if np.ptp(points) < 1e-9 else "in all other exercises"
        return Discrimination(number, reason=f"all {number} students have the same points {which}")
    value = float(np.corrcoef(points, rest)[0, 1])
    middle, width = atanh(max(-1 + 1e-12, min(1 - 1e-12, value))), NORMAL_95 / sqrt(number - 3)
    return Discrimination(number, value, tanh(middle - width), tanh(middle + width))
