"""Where the class report sends an instructor for a mistake. That these sections exist is tested with the units."""

from __future__ import annotations

from autograder.classroom.report.lessons import Lesson, lesson_of


def test_the_lesson_of_a_mistake_is_in_the_same_unit_or_the_latest_before_it():
    assert lesson_of("03_accumulate", "accumulate_gradient", "no-scale") == Lesson("03_accumulate", "Explore: B×N equivalence")
    assert lesson_of("12_capstone", "train_window", "no-scale") == Lesson("04_training_loop", "Explore: missing 1/N")


def test_the_lesson_of_a_mistake_of_a_single_exercise_is_the_section_that_prepares_it():
    assert lesson_of("05_learning_rate", "effective_batch_size", "adds-sizes").heading == "The effective batch"


def test_the_lesson_of_an_instructors_own_exercise_is_its_unit():
    assert lesson_of("04_training_loop", "essay", "no known mistake") == Lesson("04_training_loop")
