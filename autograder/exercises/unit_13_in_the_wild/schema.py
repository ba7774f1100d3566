"""What can be observed of names of fingerprints, of a repaired trainer, and of a regression test."""

from __future__ import annotations

from dataclasses import replace

from autograder.contract.schema import ListOf, Schema, Text
from autograder.exercises.unit_13_in_the_wild.observing.trainers import DEEDS, METHODS, UnseenTrial
from autograder.judging.schemas import CALL, call_schema, loop_schema_with
from autograder.observing.token_loops import TokenLoopTrial


def repaired_schema(trial: TokenLoopTrial) -> Schema:
    """What a loop leaves, and what of the trainer is the student's own: methods, and in the end its data."""
    return loop_schema_with(trial.problem, {"own": ListOf(Text(), (0, len(METHODS) + 1))})


def test_schema(trial: UnseenTrial) -> Schema:
    """What a regression test returned, and what it did with the trainers."""
    did = {"did": ListOf(Text(), (0, len(DEEDS)))}
    return Schema(tuple(replace(form, facts={**form.facts, **did}) for form in CALL.forms))


SCHEMAS = {"name_those_trainers": call_schema, "RepairedTrainer": repaired_schema, "accumulates_right": test_schema}
