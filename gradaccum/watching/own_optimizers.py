"""Optimizers that are not torch's, as in fastai: objects with ``step`` and ``zero_grad`` whose ``step`` reads ``.grad``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from torch import Tensor, nn
from torch.optim.optimizer import Optimizer

from gradaccum.watching.held import Held
from gradaccum.watching.holdings import Holdings
from gradaccum.watching.log import Log, Update


@dataclass
class Step:
    """A step that such an optimizer began.

    Attributes:
        owner: the optimizer.
        update: what all watched parameters held then; it counts once parameters have moved.
        read: the parameters whose ``.grad`` it read.
    """

    owner: Any
    update: Update
    read: set[Held] = field(default_factory=set)


class OwnOptimizers:
    """Notices their steps: the first read of a ``.grad`` comes before anything is done to it or to a parameter.

    A step counts if a parameter has moved by the next backward and no optimizer of torch's moved it. An object whose step
    leaves parameters as they are may add gradients up by itself, so its steps tell nothing.

    Args:
        begun: makes the update out of what all parameters hold when a step begins; None if it cannot be one.
    """

    def __init__(self, log: Log, holdings: Holdings, begun: Callable[[], Update | None]):
        self._log, self._holdings, self._begun = log, holdings, begun
        self._steps: dict[int, Step] = {}  # since the last backward, by id of the optimizer
        self._moved: dict[int, Any] = {}
        self._idle: dict[int, Any] = {}
        self._with_backward: set[CodeType] = set()

    def backward_begins(self) -> None:
        """A function in which a backward runs is no optimizer's step but a trainer's."""
        self._with_backward.update(frame.f_code for frame in _steps_from(sys._getframe()))

    def grad_read(self, parameter: Tensor) -> None:
        """The ``.grad`` of a parameter is about to be read."""
        held = self._holdings.held.get(id(parameter))
        owner = None if held is None else self._owner()
        if held is None or owner is None or id(owner) in self._idle:
            return
        step = self._steps.get(id(owner))
        if step is None:
            update = self._begun()
            if update is None:
                return
            step = self._steps[id(owner)] = Step(owner, update)
        step.read.add(held)

    def _owner(self) -> Any:
        """The optimizer at work, if it is not one of torch's."""
        for frame in _steps_from(_reader()):
            owner = frame.f_locals.get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None
            if isinstance(owner, Optimizer):
                return None
            is_optimizer = callable(getattr(type(owner), "zero_grad", None)) and not isinstance(owner, nn.Module)
            if is_optimizer and frame.f_code not in self._with_backward:
                return owner
        return None

    def stepped(self, mine: list[Held]) -> None:
        """An optimizer of torch's moves these parameters: whoever read their ``.grad`` around it only looked on."""
        for key, step in list(self._steps.items()):
            step.read.difference_update(mine)
            if not step.read:
                del self._steps[key]

    def ended(self, moved: set[Held]) -> Iterator[Step]:
        """The steps since the last backward that moved parameters; these belong to it with all whose ``.grad`` it read."""
        steps, self._steps = list(self._steps.values()), {}
        for step in steps:
            key = id(step.owner)
            if step.read & moved:
                self._moved[key] = step.owner
                yield step
                continue
            self._idle[key] = step.owner
            if key in self._moved:
                self._log.cannot_tell[
                    f"A step of {type(step.owner).__name__} left the parameters as they were: it may add up gradients itself."
                ] = None


def _reader() -> FrameType | None:
    """Where ``.grad`` is read; None if we read it ourselves."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _PASSING:
        frame = frame.f_back
    ours = frame is not None and frame.f_globals.get("__name__", "").startswith("gradaccum.watching.")
    return None if ours else frame


_PASSING = (__name__, "gradaccum.watching.guard", "gradaccum.watching.losses", "torch.overrides")


def _steps_from(frame: FrameType | None) -> Iterator[FrameType]:
    """The running functions called ``step``, the innermost first."""
    while frame is not None:
        if frame.f_code.co_name == "step":
            yield frame
        frame = frame.f_back
