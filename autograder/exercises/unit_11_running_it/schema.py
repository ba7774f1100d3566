"""What can be observed of killed and resumed runs, of a meter, and of a plan."""

from __future__ import annotations

import torch

from autograder.contract.schema import MAX_ENTRIES, Array, DictOf, Fact, Form, ListOf, Plain, Schema, Text, Truth, Whole
from autograder.exercises.unit_11_running_it.observing.meter import MeterTrial
from autograder.exercises.unit_11_running_it.observing.resuming import ResumeTrial
from autograder.judging.schemas import call_schema
from gradaccum.resuming import PIECES

MAX_MICRO_BATCHES = 10_000
"""Micro-batches of one resumed run. A right one has some dozens; one that lost its place may train for longer."""

MAX_PARAMETERS = 10_000
"""Numbers in a model; a loaded one may be another than the run's, which has a hundred."""

PARAMETERS = Array(((0, MAX_PARAMETERS),), (torch.float64,))

PIECES_SEEN = DictOf(Text(), most=len(PIECES) + 1)
"""A digest of each piece of a run, and of its gradients."""


def resume_schema(trial: ResumeTrial) -> Schema:
    """Parameters at the last kill and at the end of each run, its losses, and a digest of each piece after loading."""
    kills, losses = len(trial.kills), Array(((0, MAX_MICRO_BATCHES),), (torch.float64,))
    tensors = {f"end {k}": PARAMETERS for k in range(kills)} | {f"losses {k}": losses for k in range(kills)}
    saved: dict[str, Fact] = {}
    if trial.stages > 1:
        tensors |= {"killed": PARAMETERS}
        saved |= {"fresh": ListOf(Whole(1, trial.problem.total), (0, trial.problem.total)), "nested": Truth()}
    if trial.may_load_there:
        saved |= {"saved": PIECES_SEEN, "there": PIECES_SEEN}
    pieces: dict[str, Fact] = {"pieces": ListOf(PIECES_SEEN, kills), "training": Truth(), "scheduled": Truth()}
    pieces |= {"again": ListOf(Whole(0, trial.problem.total), kills)}
    if trial.while_saving:
        pieces |= {"saved_on": ListOf(Truth(), kills)}
    here: dict[str, Fact] = {"here": PIECES_SEEN} if trial.may_load_there else {}
    failed: tuple[dict[str, Fact], ...] = (
        {},
        {"refused": Truth(), "foreign": Truth()},
        {"replaced": Truth()},
        {"cannot_save": Truth()},
    )
    return Schema((Form(tensors, saved | pieces),), tuple(Form(facts=saved | here | more) for more in failed))


def meter_schema(trial: MeterTrial) -> Schema:
    """A report for each window, of whatever the student's meter returned, and counts."""
    reports = ListOf(Plain(), len(trial.windows))
    facts: dict[str, Fact] = {"reports": reports, "kept": Whole(0, MAX_ENTRIES), "clock_asked": Whole()}
    return Schema((Form(facts=facts | {"intact": Truth(), "new": Truth(), "written_over": Truth()}),))


SCHEMAS = {"load_checkpoint": resume_schema, "RunMeter": meter_schema, "plan_run": call_schema}
