"""What can be observed of names of fingerprints, of a repaired trainer, and of a regression test."""

from __future__ import annotations

from autograder.contract.schema import ListOf, Schema, Text
from autograder.exercises.unit_13_in_the_wild.observing.trainers import METHODS
from autograder.judging.schemas import call_schema, loop_schema_with
from autograder.observing.token_loops import TokenLoopTrial


def repaired_schema(trial: TokenLoopTrial) -> Schema:
    """What a loop leaves, and which methods of the trainer are the student's own."""
    return loop_schema_with(trial.problem, {"own": ListOf(Text(), (0, len(METHODS)))})


SCHEMAS = {"name_those_trainers": call_schema, "RepairedTrainer": repaired_schema, "accumulates_right": call_schema}
