"""The sections to which the class report refers exist."""

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
def test_the_section_of_every_exercise_exists_in_its_unit(exercise):
    assert exercise.section in headings(exercise.unit)


@pytest.mark.parametrize("unit", UNITS)
def test_every_section_that_shows_mistakes_exists_in_its_unit(unit):
    assert sections_of(unit).keys() <= headings(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_every_mistake_that_a_section_shows_is_in_the_catalogue(unit):
    assert {slug for slugs in sections_of(unit).values() for slug in slugs} <= CATALOGUE.keys()


def test_the_lesson_of_a_mistake_is_in_the_same_unit_or_the_latest_before_it():
    assert lesson_of("03_accumulate", "accumulate_gradient", "no-scale") == Lesson("03_accumulate", "Explore: B×N equivalence")
    assert lesson_of("12_capstone", "train_window", "no-scale") == Lesson("04_training_loop", "Explore: missing 1/N")


def test_the_lesson_of_a_mistake_of_a_single_exercise_is_the_section_that_prepares_it():
    assert lesson_of("05_learning_rate", "effective_batch_size", "adds-sizes").heading == "The effective batch"


def test_the_lesson_of_an_instructors_own_exercise_is_its_unit():
    assert lesson_of("04_training_loop", "essay", "no known mistake") == Lesson("04_training_loop")
