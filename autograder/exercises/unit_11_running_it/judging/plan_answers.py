"""Reading what a function returned where a plan was due."""

from __future__ import annotations

from autograder.contract.observation import Observation

KEYS = {"micro_batch_size", "accumulation_steps", "effective_batch"}

NO_PLAN = "What you return is no dictionary with the three keys, so there is no plan to look at yet."


def plan_of(seen: Observation) -> Observation:
    """An observation of a plan, without other keys; what is no dictionary with the three keys is reported by its type."""
    value = seen.facts.get("value")
    if seen.failure or "value" not in seen.facts:
        return seen
    if isinstance(value, dict) and value.keys() >= KEYS:
        return Observation(facts=seen.facts | {"value": {key: value[key] for key in KEYS}})
    return Observation(facts={"type": "no dictionary with the three keys"})


def in_integers(seen: Observation) -> bool:
    """Whether the numbers of a plan are integers; true of what is no plan."""
    value = seen.facts.get("value")
    return not isinstance(value, dict) or all(type(value[key]) is int for key in KEYS)
