"""The exercises of the course, one folder per unit: found by the folder's name, imported when they are asked for.

In a unit's folder each module, or package, has one concern:

- ``exercises``: what is asked, as classes: parts, trials, and the verdict on what was observed;
- ``observing``: the trials, and running a student's function on one. It runs beside student code and imports none of the
  others, see :func:`observers_of`;
- ``schema``: what can be observed of each function; what does not fit is never judged;
- ``judging``: what is due, what wrong solutions compute instead, and the messages for students;
- ``mistakes``: entries in the catalogue of mistakes, made as soon as the exercises of any unit are asked for;
- ``sections``: the sections of the unit's notebook that show certain mistakes;
- ``pictures``: the fingerprint of a right loop that a student wrote, as ``check`` shows it.

The last four are there if a unit needs them. The folder ``answers`` has a model answer to each exercise, which nothing imports.
``tests/marker/exercises/test_completeness.py`` says what else a unit needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from autograder.contract.units import UNITS

if TYPE_CHECKING:
    from autograder.contract.exercise import Exercise
    from autograder.contract.schema import Schema
    from autograder.observing.trials import Observer
    from gradaccum.notebook.showing import Picture


@cache
def exercises_of(unit: str) -> tuple[Exercise, ...]:
    """The exercises of a unit, in order; none for an unknown unit."""
    if unit not in UNITS:
        return ()
    _enter_mistakes()
    module = import_module(f"{__name__}.unit_{unit}.exercises")
    return tuple(
        made()
        for made in vars(module).values()
        if isinstance(made, type) and made.__module__ == module.__name__ and "id" in vars(made)
    )


@cache
def _enter_mistakes() -> None:
    """Enter the mistakes of every unit in the catalogue: a unit may name those of another."""
    for unit in UNITS:
        if find_spec(name := f"{__name__}.unit_{unit}.mistakes"):
            import_module(name)


@cache
def all_exercises() -> Mapping[str, Exercise]:
    """Every exercise by id, in the order of the course.

    Raises:
        ValueError: two exercises have the same id.
    """
    found: dict[str, Exercise] = {}
    for exercise in (exercise for unit in UNITS for exercise in exercises_of(unit)):
        if exercise.id in found:
            raise ValueError(f"two exercises are called {exercise.id!r}: in {found[exercise.id].unit} and in {exercise.unit}")
        found[exercise.id] = exercise
    return found


@cache
def sections_of(unit: str) -> Mapping[str, Collection[str]]:
    """The sections of a unit that show certain mistakes: slugs by heading."""
    name = f"{__name__}.unit_{unit}.sections"
    return import_module(name).SHOWN if find_spec(name) else {}


@cache
def pictures_of(unit: str) -> Mapping[str, Callable[[Callable], Picture]]:
    """How the fingerprint of a right loop is drawn, by exercise id; only for exercises that ask for a training loop."""
    name = f"{__name__}.unit_{unit}.pictures"
    return import_module(name).PICTURES if find_spec(name) else {}


def schemas_of(unit: str) -> Mapping[str, Callable[[Any], Schema]]:
    """What can be observed of each exercise of a unit on a trial, by exercise id."""
    return import_module(f"{__name__}.unit_{unit}.schema").SCHEMAS


def observers_of(unit: str) -> Mapping[str, Observer]:
    """How each exercise of a unit is observed, by exercise id. Imports nothing that judges."""
    return import_module(f"{__name__}.unit_{unit}.observing").OBSERVERS
