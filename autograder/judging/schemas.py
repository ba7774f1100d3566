"""What can be observed of calls and of training loops, for the schemas of units."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from autograder.contract.schema import FLOATS, Array, Fact, Form, ListOf, NoneOr, Number, Plain, Schema, Text, Truth, Whole
from autograder.judging.left_behind import MESSAGES, OUTSIDE
from autograder.observing.loops import MAX_LOSSES, LoopTrial
from gradaccum.problems import Problem, trainable

UPDATES_EACH = 50
"""Updates for each micro-batch that are still compared. Right loops make one for several; a loop of a hundred thousand updates
would be judged for minutes."""

NO_VALUE = Form(facts={"type": Text()})
"""The function returned something that is no plain data."""

CALL = Schema((Form(facts={"value": Plain()}), NO_VALUE, Form(facts={"raised": Text(), "reason": Truth()})))


def call_schema(trial: object) -> Schema:
    """What :func:`autograder.observing.calls.observe_call` observes, whatever the arguments are."""
    return CALL


COUNTS: Mapping[str, Fact] = {
    **{name: Whole() for name in ("backwards", "forwards_with_grad", "forwards_without_grad")},
    **{name: Whole() for name in ("forwards_in_evaluation", "forwards_in_graph")},
    **{name: Whole() for name in ("micro_batches_seen", "seen_at_first_update")},
    "last_forward_with_grad": Truth(),
}
"""What is counted of every loop, also of one that failed."""


def loop_schema(trial: LoopTrial) -> Schema:
    """What :func:`autograder.observing.loops.observe_loop` observes."""
    return loop_schema_with(trial.problem, {})


def loop_schema_with(problem: Problem, more: Mapping[str, Fact], least_updates: int = 0) -> Schema:
    """What is observed of a loop together with more facts, which are also there if it fails."""
    epochs, size = len(problem.epochs), parameter_count(problem)
    updates = {name: Array(("updates", size), FLOATS) for name in ("gradients", "movements")}
    tensors = updates | {"parameters": Array((epochs, size), FLOATS)}
    facts = {**loop_facts(problem, "updates"), **more}
    finished = Form(tensors, facts, {"updates": (least_updates, most_updates(problem))})
    return Schema((finished,), (Form(facts={**COUNTS, "without_graph": Truth(), **more}),))


def loop_facts(problem: Problem, updates: str) -> dict[str, Fact]:
    """The facts of a loop that came to its end; ``updates`` names their number."""
    epochs = len(problem.epochs)
    return {
        **COUNTS,
        "update_epochs": ListOf(Whole(0, epochs - 1), updates),
        "fetched": ListOf(Whole(), updates),
        "losses": ListOf(NoneOr(ListOf(Number(), (0, MAX_LOSSES))), epochs),
        "losses_changed": Truth(),
        "training_after": Truth(),
        "changed": ListOf(Text(), (0, len(MESSAGES) + len(OUTSIDE))),
        "peak_bytes": Whole(),
    }


def most_updates(problem: Problem) -> int:
    """How many updates of a loop are compared with those that are due."""
    return UPDATES_EACH * sum(map(len, problem.epochs))


def parameter_count(problem: Problem) -> int:
    """P, how many numbers a loop trains."""
    return _parameter_count(problem.with_(seed=0, epochs=((1,),), accumulation_steps=1, lr=0.0, momentum=0.0, rank=0))


@lru_cache(maxsize=512)
def _parameter_count(problem: Problem) -> int:
    return sum(parameter.numel() for parameter in trainable(problem.build_model()))
