"""What can be observed of a function that fills ``.grad``."""

from __future__ import annotations

from autograder.contract.schema import Schema
from autograder.judging.schemas import call_schema, loop_schema_with
from autograder.observing.loops import LoopTrial


def accumulation_schema(trial: LoopTrial) -> Schema:
    """That of a loop; the update at its end is always made."""
    return loop_schema_with(trial.problem, {}, least_updates=1)


SCHEMAS = {"accumulate_gradient": accumulation_schema, "sum_form_lr": call_schema, "same_update": call_schema}
