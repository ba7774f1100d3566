"""The result of running a student's function on one trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from autograder.contract.folders import Folder

TRIAL_SECONDS = 5.0
"""Time limit for one trial, as :func:`autograder.observing.student_calls.stopwatch` counts. Right solutions need milliseconds;
the slowest one that we know needs 1.5 seconds on a slow machine. In a class, each loop that never ends costs this long."""


FAULT = "fault"
"""The kind of a failure that is not the function's: what observes it failed. It leaves the exercise unmarked."""


@dataclass(frozen=True)
class Failure:
    """Why a trial has no result.

    Attributes:
        kind: ``"missing"`` (no such function), ``"broken"`` (what should define it does not run), ``"unwritten"`` (the
            stub), ``"absent"`` (the notebook has no cell for it), ``"raised"``, ``"changed"`` (something that it must leave as
            it was), ``"time"``, ``"died"``, ``"misfit"`` if what was observed does not fit the exercise's schema, or
            :data:`FAULT`.
        message: one line for the student; of a fault, one that says where it was raised.
    """

    kind: str
    message: str


@dataclass(frozen=True)
class Observation:
    """What was observed on one trial.

    Attributes:
        tensors: by name.
        facts: JSON values by name.
        failure: why there is no result; None if there is one.
        left: folders, for the next stage of the trial. Nothing else of this process is there in that one.
        trace: what the function did not put back or remove, in a sentence; empty if there is nothing.
        kept: what the function's calls have changed that later ones find so, in a sentence; empty if there is nothing. It is
            said with what is wrong, and costs nothing by itself.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    left: tuple[Folder, ...] = ()
    trace: str = ""
    kept: str = ""
