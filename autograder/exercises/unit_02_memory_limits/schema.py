"""What can be observed of functions that count bytes and plan micro-batches."""

from __future__ import annotations

from autograder.contract.schema import Form, Plain, Schema, Text, Truth
from autograder.exercises.unit_02_memory_limits.observing import SavedTrial
from autograder.judging.schemas import call_schema


def count_schema(trial: SavedTrial) -> Schema:
    """Any plain value, and whether something was freed too early."""
    return Schema((Form(facts={"value": Plain(), "let go": Truth()}), Form(facts={"type": Text(), "let go": Truth()})))


SCHEMAS = {"saved_bytes": count_schema, "memory_line": call_schema, "plan_micro_batches": call_schema}
