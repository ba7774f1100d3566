"""Observe a trial in stages, each of which has only the files that the one before it left.

A marker observes the first stage in one process of a submission, carries the files to another one, and has all further stages
observed there. Within a process, all stages but the last are observed in forks, each trial's first one, too; for ``check`` in a
notebook these are all.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

from autograder.contract.folders import Folder, FolderError
from autograder.contract.observation import Failure, Observation
from autograder.observing.forks import observe_in_fork
from autograder.observing.trials import Observer

TrialT = TypeVar("TrialT", bound="StagedTrial")


class StagedTrial:
    """A trial that may have several stages."""

    @property
    def stages(self) -> int:
        """How many."""
        return 1

    def later(self: TrialT) -> TrialT:
        """What the second stage and those after it are told of it."""
        return self


@dataclass(frozen=True)
class Stage:
    """What the process is told in which one stage of a trial is observed.

    Attributes:
        trial: what it is a stage of.
        number: counted from 0.
        folders: that the stage before it left.
        place: the name of the folder in which it works, the same in all stages of a trial.
    """

    trial: Any
    number: int = 0
    folders: tuple[Folder, ...] = ()
    place: str = field(default_factory=lambda: f"gradaccum-{secrets.token_hex(8)}")

    @property
    def is_last(self) -> bool:
        return self.number + 1 == self.trial.stages

    def after(self, seen: Observation) -> Stage | None:
        """The stage after this one, of which this was observed; None if there is none."""
        if self.is_last or seen.failure:
            return None
        return replace(self, trial=self.trial.later(), number=self.number + 1, folders=seen.left)


def joined(earlier: Observation, later: Observation) -> Observation:
    """What was observed in a stage and in those before it, as one observation."""
    if later.failure:
        return Observation(facts=earlier.facts | later.facts, failure=later.failure)
    trace, kept = earlier.trace or later.trace, earlier.kept or later.kept
    facts = earlier.facts | later.facts
    return Observation(earlier.tensors | later.tensors, facts, left=later.left, trace=trace, kept=kept)


StageObserver = Callable[[Callable, Stage, Path], Observation]
"""Observes one stage of a trial in a folder that is empty when it begins."""


def in_stages(observe: StageObserver) -> Observer:
    """An observer of trials that may have several stages: of a whole trial, of its first stage, or of all after the first."""

    @wraps(observe)
    def observer(function: Callable, trial: Any) -> Observation:
        if isinstance(trial, Stage) and trial.number == 0:
            return _in_this_process_or_a_fork(observe, function, trial)
        first = trial if isinstance(trial, Stage) else Stage(trial)
        return observe_all(first, lambda stage: _in_this_process_or_a_fork(observe, function, stage))

    return observer


def observe_all(first: Stage, observe: Callable[[Stage], Observation]) -> Observation:
    """What is observed in a stage of a trial and all those after it."""
    stage: Stage | None = first
    whole = Observation()
    while stage:
        seen = observe(stage)
        whole, stage = joined(whole, seen), stage.after(seen)
    return whole


def _in_this_process_or_a_fork(observe: StageObserver, function: Callable, stage: Stage) -> Observation:
    work = partial(observe_stage, observe, function, stage)
    return work() if stage.is_last else observe_in_fork(work)


def observe_stage(observe: StageObserver, function: Callable, stage: Stage) -> Observation:
    """What is observed in one stage. It has an empty folder and works in another; both are gone afterwards."""
    place = Path(tempfile.gettempdir(), stage.place)
    folder, elsewhere = place / "run", place / "elsewhere"
    shutil.rmtree(place, ignore_errors=True)  # it is there if a fork has died in it
    try:
        for made in (place, folder, elsewhere):
            made.mkdir(mode=0o700)
        with contextlib.chdir(elsewhere):
            return observe(function, stage, folder)
    except FolderError as error:
        return Observation(failure=Failure("raised", str(error)))
    finally:
        shutil.rmtree(place, ignore_errors=True)
