"""Where the course shows a mistake: what to open again in the lecture."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.contract.units import UNITS
from autograder.exercises import exercises_of, sections_of


@dataclass(frozen=True)
class Lesson:
    """A section of a unit; ``heading`` as it stands in the notebook, or empty for the unit as a whole."""

    unit: str
    heading: str = ""


def lesson_of(unit: str, exercise: str, slug: str = "") -> Lesson:
    """What shows a mistake that was made in an exercise, or, without a slug, what prepares the exercise.

    The unit of the exercise comes first, then the latest one before it: that is what students remember.
    """
    until_here = UNITS[: UNITS.index(unit) + 1] if unit in UNITS else UNITS
    for earlier in reversed(until_here):
        for heading, slugs in sections_of(earlier).items():
            if slug in slugs:
                return Lesson(earlier, heading)
    return Lesson(unit, next((one.section for one in exercises_of(unit) if one.id == exercise), ""))
