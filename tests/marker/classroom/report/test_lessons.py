"""What the class report sends an instructor to is there."""

from __future__ import annotations

import pytest

from autograder.classroom.report.lessons import Lesson, lesson_of
from autograder.contract.units import UNITS
from autograder.exercises import all_exercises, sections_of
from autograder.released import released_content
from gradaccum.diagnosis.catalogue import CATALOGUE


def headings(unit: str) -> set[str]:
    cells = ("".join(cell["source"]) for cell in released_content(unit)["cells"] if cell["cell_type"] == "markdown")
    return {line.removeprefix("## ") for text in cells for line in text.splitlines() if line.startswith("## ")}


@pytest.mark.parametrize("exercise", all_exercises().values(), ids=lambda exercise: exercise.id)
def test_every_exercise_has_a_section_that_its_unit_has(exercise):
    assert exercise.section in headings(exercise.unit)


@pytest.mark.parametrize("unit", UNITS)
def test_every_section_that_shows_mistakes_is_in_its_unit(unit):
    assert sections_of(unit).keys() <= headings(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_every_mistake_shown_is_catalogued(unit):
    assert {slug for slugs in sections_of(unit).values() for slug in slugs} <= CATALOGUE.keys()


def test_a_mistake_is_shown_in_the_unit_it_was_made_in_or_the_latest_before_it():
    assert lesson_of("03_accumulate", "accumulate_gradient", "no-scale") == Lesson("03_accumulate", "Explore: B×N equivalence")
    assert lesson_of("12_capstone", "train_window", "no-scale") == Lesson("04_training_loop", "Explore: missing 1/N")


def test_a_mistake_of_one_exercise_is_shown_where_the_exercise_is_prepared():
    assert lesson_of("05_learning_rate", "effective_batch_size", "adds-sizes").heading == "The effective batch"


def test_an_exercise_of_the_instructors_own_leads_to_its_unit():
    assert lesson_of("04_training_loop", "essay", "no known mistake") == Lesson("04_training_loop")
