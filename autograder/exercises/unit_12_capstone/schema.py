"""What can be observed of runs of the capstone, and of a function that picks a size."""

from __future__ import annotations

from typing import Any

from autograder.contract.schema import (
    FLOATS,
    Array,
    Fact,
    Form,
    ListOf,
    Maybe,
    NoneOr,
    Number,
    Record,
    Schema,
    Text,
    Truth,
    Whole,
)
from autograder.exercises.unit_12_capstone.observing import FEWER, LISTS, MAX_SIZES, MAX_UPDATES, RunTrial, WindowTrial
from autograder.judging.schemas import call_schema
from autograder.observing.loops import MAX_LOSSES

MAX_PARAMETERS = 20_000
"""Numbers in a model; a student may build another than the trial's, which has some thousands."""

WEIGHTS = Array(((0, MAX_PARAMETERS),), FLOATS)
HISTORY = Record({name: NoneOr(ListOf(Number(), (0, MAX_LOSSES))) for name in LISTS})


def windows_schema(trial: WindowTrial) -> Schema:
    """The weights after every window, and the history."""
    rows = Array((trial.config.updates, (0, MAX_PARAMETERS)), FLOATS)
    facts: dict[str, Fact] = {
        "history": HISTORY,
        "kept": Truth(),
        "intact": Truth(),
        "fewer": ListOf(Text(), (0, len(FEWER))),
        "training": Truth(),
        "steps": Whole(),
        "stepped_after_passes": Whole(),
    }
    return Schema((Form({"rows": rows, "final": WEIGHTS}, facts),))


def run_schema(trial: RunTrial) -> Schema:
    """The weights after every update, if a run was built, and the history, if one was returned."""
    tensors = {"rows": Maybe(Array(((1, MAX_UPDATES), (0, MAX_PARAMETERS)), FLOATS)), "final": Maybe(WEIGHTS)}
    facts: dict[str, Any] = {
        "built": Whole(),
        "type": Text(),
        "lines": ListOf(Whole(), (0, MAX_SIZES)),
        "fewer": ListOf(Text(), (0, len(FEWER))),
        "peak_before": NoneOr(Whole()),
        "peak_first": NoneOr(Whole()),
        "history": Maybe(HISTORY),
    }
    if trial.stops:
        tensors |= {"stopped": Maybe(WEIGHTS)} | ({"last": Maybe(WEIGHTS)} if trial.then_stop is not None else {})
        facts |= {"stopped": NoneOr(HISTORY), "written": Truth(), "left": Truth()} | {
            f"steps {k}": Whole() for k in range(trial.stages)
        }
    else:
        facts |= dict.fromkeys(("steps", "peak_bytes") if trial.meter else ("steps",), Whole())
        facts |= {"left": Truth()} if trial.config.checkpoint is not None else {}
    return Schema((Form(tensors, facts),))


SCHEMAS = {"pick_micro_batch_size": call_schema, "train_window": windows_schema, "train": run_schema}
