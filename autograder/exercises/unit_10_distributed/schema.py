"""What can be observed of a loop on several ranks, and of the factor that each rank computes."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from autograder.contract.schema import (
    Array,
    Each,
    Either,
    Fact,
    Form,
    Length,
    ListOf,
    Number,
    Record,
    Schema,
    Text,
    Truth,
    Whole,
)
from autograder.exercises.unit_10_distributed.observing import RanksTrial, TokenTrial
from autograder.judging.schemas import COUNTS, loop_facts, most_updates, parameter_count

MAX_COLLECTIVES = 10**6
"""Collective operations of one call that are counted; a right one makes one or two."""

SHARED: Mapping[str, Fact] = {name: Whole() for name in ("rounds", "bytes", "reduced", "sent_again", "late_no_sync")} | {
    "shares_after": Truth()
}


def ranks_schema(trial: RanksTrial) -> Schema:
    """Tensors and facts of each rank; ranks may make different numbers of updates."""
    problem, ranks = trial.loop.problem, range(trial.world_size)
    size, dtypes = parameter_count(problem), (torch.float64,)
    tensors: dict[str, Array] = {}
    for rank in ranks:
        rows: dict[str, Length] = {"gradients": _updates(rank), "movements": _updates(rank), "parameters": len(problem.epochs)}
        tensors |= {f"{name}{rank}": Array((count, size), dtypes) for name, count in rows.items()}
    facts = Each(tuple(Record({**loop_facts(problem, _updates(rank)), **SHARED}) for rank in ranks))
    lengths = {_updates(rank): (0, most_updates(problem)) for rank in ranks}
    failed = Form(facts={**COUNTS, "without_graph": Truth(), **SHARED})
    return Schema((Form(tensors, {"ranks": facts}, lengths),), (failed,))


def _updates(rank: int) -> str:
    return f"updates of rank {rank}"


def factors_schema(trial: TokenTrial) -> Schema:
    """For each rank and call a number, or the name of the type that was returned instead."""
    calls, world = len(trial.calls), trial.world_size
    factors = ListOf(ListOf(Either((Text(), Number())), calls), world)
    shared = ListOf(ListOf(Whole(0, MAX_COLLECTIVES), calls), world)
    return Schema((Form(facts={"ranks": factors, "shared": shared, "kept": ListOf(Truth(), world)}),))


SCHEMAS = {"ddp_train_epoch": ranks_schema, "global_token_scale": factors_schema}
