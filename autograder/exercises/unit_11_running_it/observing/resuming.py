"""Killing a training run and resuming it."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Failure, Observation
from autograder.exercises.unit_11_running_it.observing.kill_points import Disk, interrupted, read, show_age, write
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
    """

    problem: RunProblem
    kills: tuple[int, ...]
    while_saving: bool = False


def observe_resume(load_checkpoint: Callable, trial: ResumeTrial) -> Observation:
    """Train and save after every micro-batch; then for each kill start again, load, and train to the end.

    Returns the parameters at the end of each run and its losses; also, for naming mistakes, the state of each piece after
    loading.
    """
    save_checkpoint = partner(load_checkpoint, "save_checkpoint")
    if save_checkpoint is None:
        return Observation(failure=Failure("missing", "There is no function called save_checkpoint."))
    with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as folder:
        run, disks, fresh = _saved_run(save_checkpoint, trial, Path(folder))
        tensors = {"end": flat_parameters(run)}
        pieces: list[dict[str, str]] = []
        for k, disk in enumerate(disks):
            write(Path(folder), disk)
            run = trial.problem.start()
            try:
                load_checkpoint(str(Path(folder, CHECKPOINT)), run)
            except pickle.UnpicklingError as error:
                return Observation(facts={"refused": "Weights only" in str(error)}, failure=failure_of(error))
            pieces.append(digests(run))
            try:
                tensors[f"losses {k}"] = torch.tensor(train_to_end(run), dtype=torch.float64)
            except Exception:
                if replaced := _replaced(run):
                    return Observation(facts={"replaced": True}, failure=Failure("raised", replaced))
                raise
            tensors[f"end {k}"] = flat_parameters(run)
    return Observation(tensors, {"pieces": pieces, "fresh": fresh})


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


def _saved_run(save_checkpoint: Callable, trial: ResumeTrial, folder: Path) -> tuple[Run, list[Disk], list[int]]:
    """A whole run, saved after every micro-batch; the files at each kill; and after which micro-batches files changed."""
    run = trial.problem.start()
    fresh: list[int] = []
    now: Disk = {}
    disks: list[Disk] = [now] * trial.kills.count(0)
    path = str(folder / CHECKPOINT)
    for done in range(1, trial.problem.total + 1):
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
    return run, disks, fresh


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
