"""Unseen trainers and fingerprints of unit 13: what is played is what watching sees, and no trial gives an answer away."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import pytest

import gradaccum
from autograder.contract.trials import trial_random
from autograder.exercises import all_exercises
from autograder.exercises.unit_13_in_the_wild.judging.making import ASKED, fingerprints, unseen_trainers
from autograder.exercises.unit_13_in_the_wild.judging.names import names, names_message
from autograder.exercises.unit_13_in_the_wild.judging.playing import CLOSE, accumulates_right, play
from autograder.exercises.unit_13_in_the_wild.observing.trainers import Build, Built
from autograder.marking.in_process import mark_function
from autograder.marking.marker import mark_file

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))]
DATA = ("seed", "steps", "lengths", "epochs", "adam", "written")
"""What a build trains on, and how the same loss is written."""

PATCHING = b"""
import gradaccum
from gradaccum.watching import Seen

Seen.outcome = property(lambda self: "due")

def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome == "due"
"""


def unseen(seed: int) -> list[Build]:
    made = unseen_trainers(trial_random("test", seed), seed)
    return [build for builds in made.values() for build in builds]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_watching_a_trainer_sees_the_rows_that_are_played_and_the_outcome_that_is_due(seed):
    for build in unseen(seed):
        trainer = Built(build)
        with gradaccum.watch(trainer.model, accumulation_steps=build.steps) as seen:
            trainer.train()
        assert (seen.outcome == "due") is accumulates_right(build), build
        if play(build) and not build.accented:
            found = seen.fingerprint.coefficients.tolist()
            assert [row == pytest.approx(other, abs=CLOSE) for row, other in zip(found, play(build), strict=True)], build


@pytest.mark.parametrize("seed", SEEDS)
def test_of_each_code_that_can_be_wrong_there_is_a_trainer_that_is_right(seed):
    code = [field.name for field in fields(Build) if field.name not in DATA]
    of_code: dict[tuple, set[bool]] = {}
    for build in unseen(seed):
        of_code.setdefault(tuple(getattr(build, name) for name in code), set()).add(accumulates_right(build))
    assert {key for key, verdicts in of_code.items() if verdicts == {False}} == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_right_and_wrong_trainers_are_in_every_part_and_more_than_twenty_in_all(seed):
    made = unseen_trainers(trial_random("test", seed), seed)
    assert all({accumulates_right(build) for build in builds} == {True, False} for builds in made.values())
    assert sum(map(len, made.values())) > 20


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("part", ASKED)
def test_fingerprints_have_the_names_that_are_asked_for_and_do_not_carry_them(part, seed):
    given = fingerprints(trial_random("test", seed), part)
    assert Counter(names(given)) == Counter(ASKED[part])
    assert all(one.keys() == {"found", "tokens", "accumulation_steps"} for one in given)


def test_the_order_of_names_depends_on_the_seed():
    given = {tuple(names(fingerprints(trial_random("test", seed), "windows"))) for seed in range(8)}
    assert len(given) > 4


def test_a_build_without_updates_holds_nothing():
    assert play(replace(unseen(0)[0], steps=9, ends="full")) == []


def test_a_name_that_is_not_in_the_table_is_said_to_be_none():
    verdict = mark_function(all_exercises()["name_those_trainers"], lambda given: ["?"] * len(given))
    assert "“?”, which is not one of the names" in str(verdict)
    assert verdict.score == 0


TAKEN_FOR = {
    " All wrong names are “right”, where 9 different ones are due.": lambda due: ["right"] * len(due),
    " All wrong names are “right”, where “wrong-total” is due.": (
        lambda due: ["right" if name == "wrong-total" else name for name in due]
    ),
    " “wrong-total” is due for all that you name wrongly.": (
        lambda due: [f"number {k}" if name == "wrong-total" else name for k, name in enumerate(due)]
    ),
}


@pytest.mark.parametrize("words", TAKEN_FOR)
def test_names_taken_for_one_another_are_told(words):
    given = [one for part in ASKED for one in fingerprints(trial_random("test", 0), part)]
    assert names_message(given, TAKEN_FOR[words](names(given))).endswith(words)


def test_a_single_wrong_name_is_not_told_the_right_one():
    given = fingerprints(trial_random("test", 0), "windows")
    said = names_message(given, ["?", *names(given)[1:]])
    assert said.startswith(f"1 of {len(given)} names is wrong.")
    assert names(given)[0] not in said


@pytest.mark.slow
def test_a_submission_that_patches_the_report_passes_every_trainer_and_earns_nothing(write):
    marks = mark_file(write("13_in_the_wild.py", PATCHING))
    verdict = next(one for one in marks.verdicts if one.exercise == "accumulates_right")
    assert verdict.score == 0
    assert [mistake.slug for mistake in verdict.mistakes] == ["test-passes-all"]
