"""Killing a training run and resuming it."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from autograder.contract.folders import Folder
from autograder.contract.observation import Failure, Observation
from autograder.exercises.unit_11_running_it.observing.kill_points import interrupted
from autograder.observing.folders import read_folder, show_age, write_folder
from autograder.observing.forks import observe_in_fork
from autograder.observing.stages import Stage, StagedTrial, in_stages
from autograder.observing.student_calls import failure_of
from gradaccum.resuming import PIECES, Run, RunProblem, train_to_end

CHECKPOINT = "run.pt"

GRADIENTS = "gradients"
"""What waits in ``.grad`` in the middle of a window; not among the pieces that a run depends on between two windows."""


@dataclass(frozen=True)
class ResumeTrial(StagedTrial):
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

    @property
    def stages(self) -> int:
        """Saving, saving again if the run is resumed and killed again, and loading; loading only if nothing was ever saved."""
        return 1 + (max(self.kills) > 0) + (self.resumed_at > 0)

    def later(self) -> ResumeTrial:
        """The same without the stretch: the weights of a run that is resumed are in its files, and nowhere else."""
        return replace(self, stretch=0.0)

    @property
    def may_load_there(self) -> bool:
        """Whether the process that saves loads, too, to see what it keeps in memory: if kills come at usual moments."""
        return max(self.kills) > 0 and not (self.while_saving or self.resumed_at)

    @torch.no_grad()
    def begin(self, run: Run) -> None:
        """Stretch the weights of a run that was just built."""
        for parameter in run.model.parameters():
            parameter.mul_(1 + self.stretch)


@in_stages
def observe_resume(load_checkpoint: Callable, stage: Stage, folder: Path) -> Observation:
    """Train and save after every micro-batch until the last kill; then for each kill start again, load, and train to the end.

    What is saved and what is loaded are two stages, and files are all that the second one has of the first. Observed are the
    parameters at the last kill, those at the end of each resumed run and its losses; also, for naming mistakes, after which
    micro-batches there was a new file or another content, whether there are folders in the folder, and the state of each piece:
    at the last kill, after loading there, and after loading later, when it also counts whether the model is in training mode,
    whether the schedule is that of the optimizer, and after how many micro-batches the earliest comes on which loading itself
    trains.
    """
    save_checkpoint = partner(load_checkpoint, "save_checkpoint")
    if save_checkpoint is None:
        return Observation(failure=Failure("missing", "There is no function called save_checkpoint."))
    import torch._dynamo  # noqa: F401 - the first optimizer does; here it is imported once, and not in each fork

    if stage.is_last:
        return _observe_loading(save_checkpoint, load_checkpoint, stage, folder)
    return _observe_saving(save_checkpoint, load_checkpoint, stage, folder)


def _observe_saving(save_checkpoint: Callable, load_checkpoint: Callable, stage: Stage, folder: Path) -> Observation:
    """A run that is saved after every micro-batch until the last kill; from its beginning, or resumed from what was left."""
    trial, path, run = stage.trial, str(folder / CHECKPOINT), stage.trial.problem.start()
    if stage.number == 0:
        trial.begin(run)
        kills = (trial.resumed_at,) if trial.resumed_at else trial.kills
        disks, fresh = _saved(save_checkpoint, replace(trial, kills=kills), folder, run, {})
    else:
        there = stage.folders[0] if stage.folders else {}
        write_folder(folder, there)
        load_checkpoint(path, run)
        disks, fresh = _saved(save_checkpoint, trial, folder, run, there)
    facts: dict[str, Any] = {"fresh": fresh, "nested": any(entry.is_dir() for entry in folder.iterdir())}
    if trial.may_load_there:
        with contextlib.chdir(folder.parent):  # away from what the run may have left where it worked
            facts |= {"saved": digests(run), "there": _loaded(load_checkpoint, trial, folder)}
    return Observation({"killed": flat_parameters(run)} if stage.number == 0 else {}, facts, left=tuple(disks))


def _saved(
    save_checkpoint: Callable, trial: ResumeTrial, folder: Path, run: Run, there: Folder
) -> tuple[list[Folder], list[int]]:
    """Train and save until the last kill; return the files at each kill, and after which micro-batches there was a new one.

    One with another content is new, too; where files are only removed, none is. The files that are there already keep their
    order, which is that of their age.
    """
    path = str(folder / CHECKPOINT)
    fresh: list[int] = []
    now = read_folder(folder, there)
    disks: list[Folder] = []
    for done in range(run.position + 1, max(trial.kills) + 1):
        run.train_micro_batch()
        kills = trial.kills.count(done)
        if kills and trial.while_saving:
            with interrupted(folder, now) as moments:
                save_checkpoint(path, run)
            disks += [moments[k % len(moments)] if moments else now for k in range(len(disks), len(disks) + kills)]
        else:
            save_checkpoint(path, run)
        before, now = now, read_folder(folder, now)
        fresh += [done] * any(before.get(name) != file for name, file in now.items())
        show_age(folder, now)
        disks += [now] * (0 if trial.while_saving else kills)
    disks += [now] * (len(trial.kills) - len(disks))  # kills that came before the place a run says it was resumed at
    return disks, fresh


class _FailedError(Exception):
    def __init__(self, failure: Failure, **facts: bool):
        super().__init__(failure.message)
        self.failure, self.facts = failure, facts


def _observe_loading(save_checkpoint: Callable, load_checkpoint: Callable, stage: Stage, folder: Path) -> Observation:
    """What is observed of each run that goes on from what a kill left; in a process of its own if it goes on saving.

    A run that was killed while it was saved goes on saving, for what was left half done may be in its way.
    """
    trial, disks = stage.trial, stage.folders or ({},)
    resumed = []
    for disk in disks:
        observe = partial(_observe_resumed, save_checkpoint, load_checkpoint, trial, folder, disk)
        seen = observe_in_fork(observe) if trial.while_saving else observe()  # saving may remember what was saved before
        if seen.failure:
            here: dict[str, Any] = {}
            if trial.may_load_there:
                write_folder(folder, disks[-1])
                here = {"here": _loaded(load_checkpoint, trial, folder)}
            return Observation(facts=seen.facts | here, failure=seen.failure)
        resumed.append(seen)
    facts = {
        "pieces": [seen.facts["pieces"] for seen in resumed],
        "training": all(seen.facts["training"] for seen in resumed),
        "scheduled": all(seen.facts["scheduled"] for seen in resumed),
        "again": [seen.facts["again"] for seen in resumed],
    }
    if trial.while_saving:
        facts["saved_on"] = [seen.facts["saved_on"] for seen in resumed]
    tensors = {f"{name} {k}": tensor for k, seen in enumerate(resumed) for name, tensor in seen.tensors.items()}
    return Observation(tensors, facts, trace=next((seen.trace for seen in resumed if seen.trace), ""))


def _observe_resumed(
    save_checkpoint: Callable, load_checkpoint: Callable, trial: ResumeTrial, folder: Path, disk: Folder
) -> Observation:
    """The losses and the end of a run that goes on from these files, and its pieces after loading."""
    write_folder(folder, disk)
    run, path = trial.problem.start(), str(folder / CHECKPOINT)
    try:
        with _training_noted() as begun:
            _load(load_checkpoint, run, path)
        pieces = digests(run)
        scheduler = getattr(run, "scheduler", None)
        scheduled = not isinstance(scheduler, LRScheduler) or scheduler.optimizer is getattr(run, "optimizer", None)
        parts = run.model.modules() if isinstance(run.model, nn.Module) else ()
        training = all(part.training for part in parts)
        save = partial(_save_again, save_checkpoint, path) if trial.while_saving else None
        losses = torch.tensor(_trained_to_end(run, save), dtype=torch.float64)
    except _FailedError as failed:
        return Observation(facts=failed.facts, failure=failed.failure)
    total = trial.problem.total
    again = max(0, min((place for place in begun if isinstance(place, int) and place < total), default=total))
    facts: dict[str, Any] = {"pieces": pieces, "training": training, "scheduled": scheduled, "again": int(again)}
    facts |= {"saved_on": _stands_at_its_end(load_checkpoint, trial, folder)} if trial.while_saving else {}
    return Observation({"losses": losses, "end": flat_parameters(run)}, facts)


@contextlib.contextmanager
def _training_noted() -> Iterator[list[Any]]:
    """The positions of runs, whichever they are, before each micro-batch that they train on in the meantime."""
    positions: list[Any] = []
    usual = Run.train_micro_batch

    def noted(run: Run) -> float:
        positions.append(run.position)
        return usual(run)

    Run.train_micro_batch = noted  # type: ignore[assignment]
    try:
        yield positions
    finally:
        Run.train_micro_batch = usual  # type: ignore[method-assign]


def _load(load_checkpoint: Callable, run: Run, path: str) -> None:
    try:
        load_checkpoint(path, run)
    except pickle.UnpicklingError as error:
        # What it says of bytes that no pickle it knows holds; of these a file that torch.save has written has none.
        foreign = "Unsupported operand" in str(error) or "magic number" in str(error)
        refused = not foreign and "Weights only" in str(error)
        raise _FailedError(failure_of(error), foreign=foreign, refused=refused) from None
    except Exception as error:
        raise _FailedError(failure_of(error)) from None


def _save_again(save_checkpoint: Callable, path: str, run: Run) -> None:
    try:
        save_checkpoint(path, run)
    except Exception as error:
        raise _FailedError(failure_of(error), cannot_save=True) from None


def _stands_at_its_end(load_checkpoint: Callable, trial: ResumeTrial, folder: Path) -> bool:
    """Whether loading brings a run to its very end, as it does if the last micro-batch was followed by a checkpoint."""
    run = trial.problem.start()
    try:
        load_checkpoint(str(folder / CHECKPOINT), run)
        return bool(run.position == trial.problem.total)
    except Exception:
        return False


def _trained_to_end(run: Run, save: Callable[[Run], None] | None = None) -> list[float]:
    try:
        return train_to_end(run, save)
    except _FailedError:
        raise
    except Exception as error:
        replaced = _replaced(run)
        said = replaced or _parted(run)
        failure = Failure("raised", said) if said else failure_of(error)
        raise _FailedError(failure, replaced=bool(replaced)) from None


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


def _parted(run: Run) -> str:
    """Whether the optimizer updates other parameters than the model's, in words for the student; empty if it does not."""
    updated = {id(p) for group in run.optimizer.param_groups for p in group["params"]}
    strange = updated.isdisjoint(map(id, run.model.parameters()))
    return "After loading, run.optimizer updates parameters that are not in run.model." if strange else ""


def partner(function: Callable, name: str) -> Callable | None:
    """The function with this name that the student wrote along with another one; None if there is none."""
    own = getattr(inspect.unwrap(function), "__globals__", {})
    found = own.get(name, getattr(sys.modules["__main__"], name, None))
    return found if callable(found) else None


def flat_parameters(run: Run) -> Tensor:
    """A copy of all parameters as one vector, in float64, which represents them exactly."""
    return torch.cat([p.detach().reshape(-1).to("cpu", torch.float64) for p in run.model.parameters()])


def digests(run: Run) -> dict[str, str]:
    """A short text for the state of each piece of a run; equal texts mean states that are equal to the last bit.

    That of the optimizer has two parts, before and after a ``:``, for its state and for its settings, such as the rate. A piece
    that was replaced by something without a state is left out. What waits in ``.grad`` is one more piece.
    """
    found: dict[str, str] = {}
    for name in (*PIECES, GRADIENTS):
        with contextlib.suppress(TypeError, ValueError, AttributeError, RuntimeError, LookupError):
            found[name] = ":".join(map(_digest, _states(run, name)))
    return found


def _states(run: Run, name: str) -> tuple[Any, ...]:
    """The state of a piece, in one part or two."""
    if name == "rng":
        return (torch.get_rng_state(),)
    if name == GRADIENTS:
        return ([torch.zeros_like(p) if p.grad is None else p.grad for p in run.model.parameters()],)
    piece = getattr(run, name)
    if name == "optimizer":
        state = piece.state_dict()
        return state["state"], state["param_groups"]
    return (piece.get_state() if name == "shuffler" else piece.state_dict() if name in KINDS else piece,)


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(_canonical(value)).encode()).hexdigest()[:16]


def _canonical(value: Any) -> Any:
    """A state as plain values in a fixed order: the same for a number and a tensor with one, and for a list and a tensor."""
    if isinstance(value, Tensor):
        packed = value.dtype == torch.uint8 and value.numel() % 8 == 0  # the long states of generators
        return (value.contiguous().view(torch.int64) if packed else value.double()).tolist()
    if isinstance(value, dict):
        return sorted((str(key), _canonical(item)) for key, item in value.items())
    if isinstance(value, list | tuple | range):
        return [_canonical(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return _canonical(value.tolist())
    return float(value) if isinstance(value, int | float) else value
