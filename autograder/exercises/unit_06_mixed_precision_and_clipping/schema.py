"""What can be observed of loops that clip, loops in mixed precision and sums in float32."""

from __future__ import annotations

from autograder.contract.schema import Array, Fact, Form, ListOf, Number, Schema, Text, Truth, Whole
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import (
    LAST_CALLS,
    AmpTrial,
    ClipTrial,
    Float32SumTrial,
)
from autograder.judging.schemas import NO_VALUE, loop_schema, loop_schema_with

AMP_FACTS: dict[str, Fact] = {
    **{name: Whole() for name in ("unscales", "scaler_steps", "scaler_updates")},
    "scale": Number(),
    "dtypes": ListOf(Text(), (0, 20)),
    "last_calls": ListOf(Text(), (0, LAST_CALLS)),
    "converted": Truth(),
}


def clipped_schema(trial: ClipTrial) -> Schema:
    """That of the loop."""
    return loop_schema(trial.loop)


def amp_schema(trial: AmpTrial) -> Schema:
    """That of the loop, and what became of the scaler."""
    return loop_schema_with(trial.loop.problem, AMP_FACTS)


def sums_schema(trial: Float32SumTrial) -> Schema:
    """Tensors of any name and shape, since the student's function chooses them."""
    return Schema(
        (
            Form({"*": Array()}, {"moved": Truth(), "converted": Truth(), "changed": ListOf(Text(), (0, 3))}),
            NO_VALUE,
        )
    )


SCHEMAS = {
    "train_epoch_clipped": clipped_schema,
    "train_epoch_amp": amp_schema,
    "accumulate_in_float32": sums_schema,
}
