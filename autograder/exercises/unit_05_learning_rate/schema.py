"""What can be observed of loops with a schedule, and of functions that compute a number."""

from __future__ import annotations

from autograder.contract.schema import Schema
from autograder.exercises.unit_05_learning_rate.observing import ScheduleTrial
from autograder.judging.schemas import call_schema, loop_schema


def scheduled_schema(trial: ScheduleTrial) -> Schema:
    """That of the loop."""
    return loop_schema(trial.loop)


SCHEMAS = {
    "effective_batch_size": call_schema,
    "scale_learning_rate": call_schema,
    "train_with_schedule": scheduled_schema,
    "gradient_noise_scale": call_schema,
}
