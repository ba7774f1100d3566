"""Where the course shows a mistake: the section to go through again in the lecture."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.contract.units import UNITS
from autograder.exercises import exercises_of, sections_of


@dataclass(frozen=True)
class Lesson:
    """A section of a unit. ``heading`` is as in the notebook; if it is empty, the unit as a whole is meant."""

    unit: str
    heading: str = ""


def lesson_of(unit: str, exercise: str, slug: str = "") -> Lesson:
    """The section that shows a mistake made in an exercise; without a slug, the section that prepares the exercise.

    The unit of the exercise is searched first, then earlier units, the latest first: students remember those best.
    """
    until_here = UNITS[: UNITS.index(unit) + 1] if unit in UNITS else UNITS
    for earlier in reversed(until_here):
        for heading, slugs in sections_of(earlier).items():
            if slug in slugs:
                return Lesson(earlier, heading)
    return Lesson(unit, next((one.section for one in exercises_of(unit) if one.id == exercise), ""))
