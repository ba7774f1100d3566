"""Call a function that takes and returns plain values, and observe it."""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from autograder.contract.observation import Failure, Observation
from autograder.observing.student_calls import CHANGED, describe_error

Plain = bool | int | float | str | list | dict


@dataclass(frozen=True)
class CallTrial:
    """Arguments of one call."""

    arguments: tuple = ()
    keywords: dict[str, Any] = field(default_factory=dict)


def observe_call(function: Callable, trial: CallTrial) -> Observation:
    """Call once. Observe the ``value`` if it is plain, otherwise its ``type``; of a ValueError, what was ``raised``.

    Whether that gives a ``reason`` is observed, too: quoting an argument is one, even if that is an empty string. A call
    that changes the lists, tensors and dataclasses it was given has failed.
    """
    given = tree_map(_copied, (trial.arguments, trial.keywords))
    try:
        value = function(*given[0], **given[1])
    except ValueError as error:
        reason = bool(str(error).strip()) or any(isinstance(one, str) and one == str(error) for one in trial.arguments)
        return Observation(facts={"raised": describe_error(error), "reason": reason})
    if not _unchanged(given, (trial.arguments, trial.keywords)):
        return Observation(failure=Failure(CHANGED, "Your function changed the values it was given."))
    try:
        return Observation(facts={"value": plain(value)})
    except TypeError:
        kind = type(value).__name__
        holds_none = isinstance(value, list | tuple) and any(item is None for item in value)
        return Observation(facts={"type": f"{kind} that holds None" if holds_none else kind})


def _copied(value: object) -> object:
    """A copy of what a function could change in place, frozen or not; lists and dictionaries are copied around it."""
    return value.clone() if isinstance(value, torch.Tensor) else copy.copy(value) if is_dataclass(value) else value


def _unchanged(found: object, due: object) -> bool:
    (values, form), (others, other_form) = tree_flatten(found), tree_flatten(due)
    return form == other_form and all(
        a.dtype == b.dtype and torch.equal(a, b)
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
        else a is b or a == b
        for a, b in zip(values, others, strict=True)
    )


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
