"""What can be observed of names of fingerprints, of a repaired trainer, and of a regression test."""

from __future__ import annotations

from autograder.judging.schemas import call_schema, loop_schema

SCHEMAS = {"name_those_trainers": call_schema, "RepairedTrainer": loop_schema, "accumulates_right": call_schema}
