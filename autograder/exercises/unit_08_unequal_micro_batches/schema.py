"""What can be observed of a loop over tokens, and of a function that computes a number."""

from __future__ import annotations

from autograder.judging.schemas import call_schema, loop_schema

SCHEMAS = {"train_epoch_tokens": loop_schema, "window_denominator": call_schema}
