"""What can be observed of a contrastive loss on one window, and of a function that returns two numbers."""

from __future__ import annotations

from functools import lru_cache

from autograder.contract.schema import FLOATS, Array, Fact, Form, Number, Schema, Truth, Whole
from autograder.exercises.unit_09_contrastive_losses.observing import TOWERS, ContrastiveTrial
from autograder.judging.schemas import NO_VALUE, call_schema
from gradaccum.problems import trainable
from gradaccum.problems.contrastive import ContrastiveProblem


def contrastive_schema(trial: ContrastiveTrial) -> Schema:
    """Gradients and parameters of both encoders and of ``logit_scale``, and a number."""
    arrays = {name: Array((size,), FLOATS) for name, size in _sizes(trial.problem).items()}
    tensors = {f"{what}/{name}": array for what in ("gradient", "parameters") for name, array in arrays.items()}
    facts: dict[str, Fact] = {
        "training": Truth(),
        **dict.fromkeys(("switched", "evaluated", "inputs_changed"), Truth()),
        "peak_bytes": Whole(),
    }
    return Schema((Form(tensors, facts | {"loss": Number()}), Form(tensors, {**facts, **NO_VALUE.facts})))


@lru_cache(maxsize=64)  # check() asks again and again about the same problems
def _sizes(problem: ContrastiveProblem) -> dict[str, int]:
    """How many numbers are trained in each encoder, and in ``logit_scale``."""
    *encoders, _ = problem.build()
    trained = zip(TOWERS, map(trainable, encoders), strict=True)
    return {name: sum(p.numel() for p in parameters) for name, parameters in trained} | {"scale": 1}


SCHEMAS = {"accumulate_contrastive": contrastive_schema, "accumulation_cost": call_schema}
