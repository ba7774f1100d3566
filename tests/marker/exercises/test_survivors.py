"""What ``survivors.toml`` says of mutants is true: they exist, and they get full marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from survivors import explanations_of, matches

from autograder.contract.units import UNITS
from autograder.exercises import all_exercises, exercises_of
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import run
from autograder.isolation.worker import observe_exercise
from autograder.marking.in_process import judge_observations, trials_of

if TYPE_CHECKING:
    from mutating import Mutant

EXPLAINED = [unit for unit in UNITS if explanations_of(unit)]


def mutants_of_references(unit: str) -> list[Mutant]:
    from mutating import mutants_of, reference  # takes half a second, which collecting these tests need not

    return [mutant for exercise in exercises_of(unit) for mutant in mutants_of(reference(exercise.id))]


def patterns_of(unit: str) -> list[str]:
    return [pattern for one in explanations_of(unit) for pattern in one.mutants]


@pytest.mark.parametrize("unit", EXPLAINED)
def test_explanations_say_why_and_name_no_mutant_twice(unit):
    assert all(one.reason.endswith(".") and one.mutants for one in explanations_of(unit))
    patterns = patterns_of(unit)
    assert sorted(set(patterns)) == sorted(patterns)


@pytest.mark.slow
@pytest.mark.parametrize("unit", EXPLAINED)
def test_explained_mutants_of_references_exist_and_the_first_of_each_explanation_gets_full_marks(unit):
    mutants = mutants_of_references(unit)
    ids = [exercise.id for exercise in exercises_of(unit)]
    known = {f"{name}/reference" for name in ids}
    for one in explanations_of(unit):
        own = [pattern for pattern in one.mutants if pattern.partition(":")[0] in known]
        assert [pattern for pattern in own if not any(matches(mutant.key, pattern) for mutant in mutants)] == []
        alike = [mutant for mutant in mutants if own and matches(mutant.key, own[0])]
        assert not alike or any(map(gets_full_marks, alike)), own[0]


def gets_full_marks(mutant: Mutant) -> bool:
    exercise = all_exercises()[mutant.source.exercise]
    trials = trials_of(exercise, 0)
    observations = observe_exercise(exercise.unit, exercise.id, trials, run(mutant.cells, Limits()), Limits())
    return judge_observations(exercise, trials, observations).passed
