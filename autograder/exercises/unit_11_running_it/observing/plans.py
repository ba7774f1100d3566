"""Asking for a plan, and reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.contract.observation import Observation
from autograder.observing.calls import CallTrial, observe_call, plain

KEYS = ("micro_batch_size", "accumulation_steps", "effective_batch")


def observe_plan(function: Callable, trial: CallTrial) -> Observation:
    """As :func:`observe_call`, of a function that returns a plan: whatever it holds under other keys is not looked at."""
    return observe_call(lambda *arguments: _due_keys(function(*arguments)), trial)


def _due_keys(plan: Any) -> Any:
    """What a plan holds under the keys that are due, where it is no plain value the name of its type; else what is no plan."""
    if not isinstance(plan, dict):
        return plan
    return {key: _plain_or_type(plan[key]) for key in KEYS if key in plan}


def _plain_or_type(value: object) -> object:
    try:
        return plain(value)
    except TypeError:
        return type(value).__name__
