"""Call a function that takes and returns plain values, and observe it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import TreeSpec, tree_flatten

from autograder.contract.observation import Observation
from autograder.observing.student_calls import describe_error

Plain = bool | int | float | str | list | dict


@dataclass(frozen=True)
class CallTrial:
    """Arguments of one call."""

    arguments: tuple = ()
    keywords: dict[str, Any] = field(default_factory=dict)


def observe_call(function: Callable, trial: CallTrial) -> Observation:
    """Call once. Observe the ``value`` if it is plain, otherwise its ``type``; of a ValueError, what was ``raised``.

    ``changed`` is observed of a function that changed lists, dictionaries or tensors that it was given.
    """
    given = _in_detail(trial)
    try:
        value = function(*trial.arguments, **trial.keywords)
    except ValueError as error:
        return Observation(facts={"raised": describe_error(error), "reason": bool(str(error).strip())})
    try:
        kept = {} if _in_detail(trial) == given else {"changed": True}
        return Observation(facts={"value": plain(value)} | kept)
    except TypeError:
        return Observation(facts={"type": type(value).__name__})


def _in_detail(trial: CallTrial) -> tuple[TreeSpec, list[str]]:
    """The arguments of a call in a form that later changes do not reach: nesting, numbers, texts, and tensors as lists."""
    leaves, form = tree_flatten((trial.arguments, trial.keywords))
    values = [leaf.tolist() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return form, [repr(value) if isinstance(value, Plain) else type(value).__name__ for value in values]


def observe_number(function: Callable, trial: CallTrial) -> Observation:
    """As :func:`observe_call`, of a function that returns one number: a tensor or an array with one element is one, too."""
    return observe_call(lambda *args, **keywords: _single(function(*args, **keywords)), trial)


def _single(value: Any) -> Any:
    is_array = isinstance(value, torch.Tensor) or (hasattr(value, "tolist") and hasattr(value, "size"))
    return value.reshape(()) if is_array and math.prod(value.shape) == 1 else value


def plain(value: object) -> Plain:
    """A value as JSON has it: a number of any kind, truth value, text or tensor, or a list, tuple or dictionary of these.

    Raises:
        TypeError: it is, or contains, something else.
    """
    if isinstance(value, torch.Tensor):
        return plain(value.tolist())
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, numbers.Number):  # a Fraction or a Decimal; a complex number is refused with a TypeError, too
        return float(value)  # type: ignore[arg-type]
    raise TypeError(f"{type(value).__name__} is not plain data")
