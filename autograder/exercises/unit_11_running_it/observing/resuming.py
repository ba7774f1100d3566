"""Killing a training run and resuming it."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Failure, Observation
from autograder.exercises.unit_11_running_it.observing.kill_points import Disk, interrupted, read, show_age, write
from autograder.observing.forks import observe_in_fork
from autograder.observing.student_calls import failure_of
from gradaccum.resuming import Run, RunProblem, state_of, train_to_end

CHECKPOINT = "run.pt"


@dataclass(frozen=True)
class ResumeTrial:
    """A run, and when it is killed.

    Attributes:
        problem: the run.
        kills: after how many micro-batches; each is a kill of a run of its own, in rising order.
        while_saving: whether the kill comes while the checkpoint is being written: the first kill at the first moment of its
            writing that matters, the second kill at the second moment, and so on.
        resumed_at: after how many micro-batches the runs were killed and resumed before; 0 if they were not.
        stretch: by which share the weights of the run that is saved are longer, before it trains, than those of a run that is
            built anew: so a run that is trained again instead of loaded ends elsewhere.
    """

    problem: RunProblem
    kills: tuple[int, ...]
    while_saving: bool = False
    resumed_at: int = 0
    stretch: float = 0.0

    @torch.no_grad()
    def begin(self, run: Run) -> None:
        """Stretch the weights of a run that was just built."""
        for parameter in run.model.parameters():
            parameter.mul_(1 + self.stretch)


def observe_resume(load_checkpoint: Callable, trial: ResumeTrial) -> Observation:
    """Train and save after every micro-batch until the last kill; then for each kill start again, load, and train to the end.

    Saving happens in a process of its own, of which only the files are left. Returns the parameters at the last kill, those at
    the end of each resumed run and its losses; also, for naming mistakes, the state of each piece after loading, after which
    micro-batches files changed, and whether only the process that saved could load.
    """
    save_checkpoint = partner(load_checkpoint, "save_checkpoint")
    if save_checkpoint is None:
        return Observation(failure=Failure("missing", "There is no function called save_checkpoint."))
    _import_what_training_needs()
    with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as place:
        folder = Path(place, "run")
        folder.mkdir()
        saved = _saved_runs(save_checkpoint, load_checkpoint, trial, folder)
        if saved.failure:
            return saved
        facts = {"fresh": saved.facts["fresh"], "in_memory": False}
        try:
            facts["in_memory"] = _only_there(load_checkpoint, trial, folder, saved)
            tensors, pieces = _resumed_runs(load_checkpoint, trial, folder, saved.facts["disks"])
        except _FailedError as failed:
            return Observation(facts=facts | failed.facts, failure=failed.failure)
    return Observation(tensors | saved.tensors, facts | {"pieces": pieces})


@cache
def _import_what_training_needs() -> None:
    """Let the first optimizer import the compiler in this process, once, and not in each fork."""
    train_to_end(RunProblem().start())


class _FailedError(Exception):
    def __init__(self, failure: Failure, **facts: bool):
        super().__init__(failure.message)
        self.failure, self.facts = failure, facts


def _resumed_runs(
    load_checkpoint: Callable, trial: ResumeTrial, folder: Path, disks: list[Disk]
) -> tuple[dict[str, Tensor], list[dict[str, str]]]:
    """The losses and the end of the run that goes on from each disk, and its pieces after loading."""
    tensors: dict[str, Tensor] = {}
    pieces: list[dict[str, str]] = []
    for k, disk in enumerate(disks):
        write(folder, disk)
        run = trial.problem.start()
        try:
            load_checkpoint(str(folder / CHECKPOINT), run)
        except pickle.UnpicklingError as error:
            raise _FailedError(failure_of(error), refused="Weights only" in str(error)) from None
        except Exception as error:
            raise _FailedError(failure_of(error)) from None
        pieces.append(digests(run))
        try:
            tensors[f"losses {k}"] = torch.tensor(train_to_end(run), dtype=torch.float64)
        except Exception as error:
            replaced = _replaced(run)
            raise _FailedError(
                Failure("raised", replaced) if replaced else failure_of(error), replaced=bool(replaced)
            ) from None
        tensors[f"end {k}"] = flat_parameters(run)
    return tensors, pieces


def _only_there(load_checkpoint: Callable, trial: ResumeTrial, folder: Path, saved: Observation) -> bool:
    """Whether the process that saved restores a piece of the run that this one, given the same files, does not."""
    if not (there := saved.facts["loaded_there"]):
        return False
    write(folder, saved.facts["disks"][-1])
    here, due = _loaded(load_checkpoint, trial, folder), saved.facts["pieces"]
    return any(due[name] == found != here.get(name) for name, found in there.items())


def _loaded(load_checkpoint: Callable, trial: ResumeTrial, folder: Path) -> dict[str, str]:
    """The pieces of a fresh run after loading; none if that raises an error."""
    run = trial.problem.start()
    try:
        load_checkpoint(str(folder / CHECKPOINT), run)
    except Exception:
        return {}
    return digests(run)


KINDS = {"model": "model", "optimizer": "optimizer", "scheduler": "schedule", "scaler": "scaler", "shuffler": "generator"}


def _replaced(run: Run) -> str:
    """Which of a run's objects has another type after loading, in words for the student; empty if none has."""
    first = run.problem.start()
    for name, kind in KINDS.items():
        if not isinstance(getattr(run, name), type(getattr(first, name))):
            found = type(getattr(run, name)).__name__[:40]
            return f"After loading, run.{name} is no {kind} any more, but of type {found}."
    return ""


def partner(function: Callable, name: str) -> Callable | None:
    """The function with this name that the student wrote along with another one; None if there is none."""
    own = getattr(inspect.unwrap(function), "__globals__", {})
    found = own.get(name, getattr(sys.modules["__main__"], name, None))
    return found if callable(found) else None


def _saved_runs(save_checkpoint: Callable, load_checkpoint: Callable, trial: ResumeTrial, folder: Path) -> Observation:
    """The files at each kill, of a run that was itself resumed if the trial says so, and where the first run was killed."""
    if not max(trial.kills):
        return Observation({"killed": flat_parameters(trial.problem.start())}, {"disks": [{}], "fresh": [], "loaded_there": {}})
    if not trial.resumed_at:
        return _in_its_process(save_checkpoint, load_checkpoint, trial, folder)
    first = _in_its_process(save_checkpoint, load_checkpoint, replace(trial, kills=(trial.resumed_at,)), folder)
    if first.failure:
        return first
    write(folder, first.facts["disks"][0])
    second = _in_its_process(save_checkpoint, load_checkpoint, trial, folder, resumed=True)
    return second if second.failure else replace(second, tensors=first.tensors)


def _in_its_process(
    save_checkpoint: Callable, load_checkpoint: Callable, trial: ResumeTrial, folder: Path, resumed: bool = False
) -> Observation:
    """A run that is saved after every micro-batch until the last kill, in a process of its own that works in another folder.

    Observes the parameters then, the files at each kill, and after which micro-batches files changed; also the pieces of the
    run, and those of a fresh run that the same process loads, unless kills come at unusual moments.
    """

    def work() -> Observation:
        elsewhere, here = folder.parent / "elsewhere", Path.cwd()
        elsewhere.mkdir(exist_ok=True)
        os.chdir(elsewhere)
        try:
            run, facts = _saved_run(save_checkpoint, load_checkpoint if resumed else None, trial, folder)
        finally:
            os.chdir(here)
        usual = not (trial.while_saving or trial.resumed_at)
        facts |= {"pieces": digests(run), "loaded_there": _loaded(load_checkpoint, trial, folder) if usual else {}}
        return Observation({"killed": flat_parameters(run)}, facts)

    return observe_in_fork(work)


def _saved_run(
    save_checkpoint: Callable, load_checkpoint: Callable | None, trial: ResumeTrial, folder: Path
) -> tuple[Run, dict[str, Any]]:
    """A run, resumed or from its beginning, and the files it saved."""
    run, path = trial.problem.start(), str(folder / CHECKPOINT)
    if load_checkpoint:
        load_checkpoint(path, run)
    else:
        trial.begin(run)
    fresh: list[int] = []
    now = read(folder, {})
    disks: list[Disk] = [now] * trial.kills.count(0)
    for done in range(run.position + 1, max(trial.kills) + 1):
        run.train_micro_batch()
        kills = trial.kills.count(done)
        if kills and trial.while_saving:
            with interrupted(folder, now) as moments:
                save_checkpoint(path, run)
            disks += [moments[k % len(moments)] if moments else now for k in range(len(disks), len(disks) + kills)]
        else:
            save_checkpoint(path, run)
        before, now = now, read(folder, now)
        fresh += [done] * (now != before)
        show_age(folder, now)
        disks += [now] * (0 if trial.while_saving else kills)
    disks += [now] * (len(trial.kills) - len(disks))  # kills that came before the place a run says it was resumed at
    return run, {"disks": disks, "fresh": fresh}


def flat_parameters(run: Run) -> Tensor:
    """A copy of all parameters as one vector, in float64, which represents them exactly."""
    return torch.cat([p.detach().reshape(-1).to("cpu", torch.float64) for p in run.model.parameters()])


def digests(run: Run) -> dict[str, str]:
    """A short text for the state of each piece of a run; equal texts mean states that are equal to the last bit."""
    try:
        return {name: _digest(value) for name, value in state_of(run).items()}
    except (TypeError, ValueError, AttributeError, RuntimeError):  # a piece was replaced by something else
        return {}


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(_canonical(value)).encode()).hexdigest()[:16]


def _canonical(value: Any) -> Any:
    """A state as plain values in a fixed order; a number and a tensor with one number are the same."""
    if isinstance(value, Tensor):
        packed = value.dtype == torch.uint8 and value.numel() % 8 == 0  # the long states of generators
        return (value.contiguous().view(torch.int64) if packed else value.double()).tolist()
    if isinstance(value, dict):
        return sorted((str(key), _canonical(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return float(value) if isinstance(value, int | float) else value
