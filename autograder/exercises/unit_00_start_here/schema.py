"""What can be observed of the start page's exercise."""

from __future__ import annotations

from autograder.contract.schema import Array, Form, Schema, Truth
from autograder.exercises.unit_00_start_here.observing import ListTrial
from autograder.judging.schemas import NO_VALUE


def tensor_schema(trial: ListTrial) -> Schema:
    """A tensor of any shape, since the student's function chooses it."""
    kept = {"kept": Truth()}
    return Schema((Form({"value": Array()}, kept), Form(facts={**NO_VALUE.facts, **kept})))


SCHEMAS = {"average_gradients": tensor_schema}
