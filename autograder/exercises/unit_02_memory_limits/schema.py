"""What can be observed of functions that count bytes and plan micro-batches."""

from __future__ import annotations

from autograder.contract.schema import Form, Plain, Schema, Text, Truth
from autograder.exercises.unit_02_memory_limits.observing import SavedTrial
from autograder.judging.schemas import call_schema


def count_schema(trial: SavedTrial) -> Schema:
    """Any plain value, whether a second call returns it as well, and what became of the model and the batch."""
    more = {"kept": Truth(), "let go": Truth()}
    fewer = {"fewer": Plain()} if trial.smaller() else {}
    return Schema((Form(facts={"value": Plain(), "again": Truth(), **fewer, **more}), Form(facts={"type": Text(), **more})))


SCHEMAS = {"saved_bytes": count_schema, "memory_line": call_schema, "plan_micro_batches": call_schema}
