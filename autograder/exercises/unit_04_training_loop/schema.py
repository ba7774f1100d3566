"""What can be observed of training loops, and of the answers to the puzzle."""

from __future__ import annotations

from autograder.contract.schema import DictOf, Form, Schema, Text
from autograder.judging.schemas import NO_VALUE, loop_schema


def answers_schema(trial: None) -> Schema:
    """A dictionary of short texts."""
    return Schema((Form(facts={"answers": DictOf(Text())}), NO_VALUE))


SCHEMAS = {
    "train_epoch": loop_schema,
    "repaired_early_clear": loop_schema,
    "repaired_eager_step": loop_schema,
    "repaired_lost_tail": loop_schema,
    "name_that_loop": answers_schema,
}
