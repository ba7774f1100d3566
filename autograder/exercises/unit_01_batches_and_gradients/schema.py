"""What can be observed of functions on one batch."""

from __future__ import annotations

import torch

from autograder.contract.schema import MAX_ENTRIES, Array, Fact, Form, ListOf, Maybe, Number, Schema, Text, Truth
from autograder.exercises.unit_01_batches_and_gradients.observing import MAX_ROWS, BatchTrial
from autograder.judging.schemas import NO_VALUE

LENGTHS = {"rows": (1, MAX_ROWS)}
NAMES = ListOf(Text(), (0, MAX_ENTRIES))


def gradients_schema(trial: BatchTrial) -> Schema:
    """The model, and tensors of any name and shape, since the student's function chooses them."""
    model, facts = _model(trial)
    returned = Form(model | {"returned/*": Array()}, facts | {"no_tensors": NAMES}, LENGTHS)
    return Schema((returned, Form(model, {**facts, **NO_VALUE.facts}, LENGTHS)))


def step_schema(trial: BatchTrial) -> Schema:
    """The model, and a number."""
    model, facts = _model(trial)
    return Schema((Form(model, facts | {"loss": Number()}, LENGTHS), Form(model, {**facts, **NO_VALUE.facts}, LENGTHS)))


def _model(trial: BatchTrial) -> tuple[dict[str, Array | Maybe], dict[str, Fact | Maybe]]:
    """The model with parameters of the shapes that it was given with. A gradient may be missing, and a shared one be split."""
    model = trial.model()
    arrays = {name: Array(tuple(p.shape), (p.dtype,)) for name, p in model.named_parameters(remove_duplicate=False)}
    tensors: dict[str, Array | Maybe] = {f"parameter/{name}": Maybe(array) for name, array in arrays.items()}
    tensors |= {f"parameter/{name}": arrays[name] for name, _ in model.named_parameters()}
    tensors |= {f"grad/{name}": Maybe(array) for name, array in arrays.items()}
    if trial.dropping:
        rows = Maybe(Array(("rows", trial.problem.width), (torch.float32,)))
        tensors |= {"drawn": rows, "dropped from": rows}
    kept = {"data kept": Truth(), "own parameters": Truth()}
    return tensors, {"modes": ListOf(Truth(), (1, MAX_ENTRIES)), "trainable": NAMES, "chance": ListOf(Text(), (0, 2)), **kept}


SCHEMAS = {
    "batch_gradient": gradients_schema,
    "average_sample_gradients": gradients_schema,
    "sgd_step": step_schema,
}
