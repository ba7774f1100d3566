"""Reading what a function returned where a plan was due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.contract.observation import Observation
from autograder.exercises.unit_11_running_it.judging.plans import Call
from autograder.exercises.unit_11_running_it.observing.plans import KEYS
from autograder.judging.calls import in_words
from autograder.observing.calls import CallTrial, Plain
from autograder.support.counted import counted

NOT_DUE = "This is not the plan that is due: the largest micro-batch that divides and fits, and what goes with it."

RETURNED = "For plan_run({0}) you return B = {micro_batch_size}, N = {accumulation_steps}, effective batch {effective_batch}."

NO_PLAN = "What you return is no dictionary with the three keys, so there is no plan to look at yet."


def plan_of(seen: Observation) -> Observation:
    """An observation of a plan, without other keys; what is no dictionary with the three keys is reported by its type."""
    value = seen.facts.get("value")
    if seen.failure or "value" not in seen.facts:
        return seen
    if isinstance(value, dict) and value.keys() >= set(KEYS):
        return Observation(facts=seen.facts | {"value": {key: value[key] for key in KEYS}})
    return Observation(facts={"type": "no dictionary with the three keys"})


def plan_message(trial: CallTrial, value: Plain | None) -> str:
    """What is wrong with a wrong plan: with the kind of what is in it, or with its numbers."""
    if not isinstance(value, dict):
        return NOT_DUE
    for key, entry in value.items():
        if type(entry) not in (int, float):
            return f"Your plan holds no integer under {key!r}."
    returned = RETURNED.format(", ".join(map(str, trial.arguments)), **{key: in_words(value[key]) for key in KEYS})
    return f"{NOT_DUE} {returned}{_why_not(Call(*trial.arguments), value)}"


def _why_not(call: Call, plan: Mapping[str, Any]) -> str:
    """Which condition a micro-batch breaks, as a sentence to append; empty if it breaks none, or is no integer."""
    size = plan["micro_batch_size"]
    if type(size) is not int or size < 1 or call.batch % call.ranks:
        return ""
    if size > call.room:
        return " The budget has room for " + (counted(call.room, "sample") if call.room > 0 else "not even one sample") + "."
    if call.share % size:
        return f" A rank has a share of {counted(call.share, 'sample')}, which {size} does not divide."
    return ""


def in_integers(seen: Observation) -> bool:
    """Whether the numbers of a plan are integers; true of what is no plan."""
    value = seen.facts.get("value")
    return not isinstance(value, dict) or all(type(value[key]) is int for key in KEYS)
