"""Killing a training run and taking it up again: what right means, and what a resumed run has forgotten."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.exercise import Failure, Observation
from autograder.interrupted import Disk, interrupted, read, show_age, write
from autograder.student_code import failure_of
from gradaccum.resuming import PIECES, Run, RunProblem, state_of, train_to_end

CHECKPOINT = "run.pt"
SLUGS = {
    "model": "state-missing-model",
    "optimizer": "state-missing-optimizer",
    "scheduler": "state-missing-schedule",
    "scaler": "state-missing-scaler",
    "position": "state-missing-position",
    "order": "state-missing-order",
    "shuffler": "state-missing-shuffler",
    "rng": "state-missing-rng",
}


REFUSED = {"refused": "objects-in-the-file", "replaced": "state-in-place-of-object"}
"""By what was observed beside a failure."""


@dataclass(frozen=True)
class ResumeTrial:
    """A run, and when it is killed.

    Attributes:
        problem: the run.
        kills: after how many micro-batches, each time anew; in rising order.
        while_saving: whether the kill comes while the checkpoint is being written: the first at the first moment of its
            writing that matters, the second at the second, and so on.
    """

    problem: RunProblem
    kills: tuple[int, ...]
    while_saving: bool = False


def observe_resume(load_checkpoint: Callable, trial: ResumeTrial) -> Observation:
    """Train, save after every micro-batch; then for each kill start again, load, and train to the end.

    Brings back where the runs end and their losses, and for naming mistakes which pieces are in which state after loading.
    """
    save_checkpoint = partner(load_checkpoint, "save_checkpoint")
    if save_checkpoint is None:
        return Observation(failure=Failure("missing", "There is no function called save_checkpoint."))
    with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as folder:
        run, disks, fresh = _saved_run(save_checkpoint, trial, Path(folder))
        tensors, pieces = {"end": flat_parameters(run)}, []
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
    """Which of a run's objects is something else after loading, in words; empty if none."""
    first = run.problem.start()
    for name, kind in KINDS.items():
        if not isinstance(getattr(run, name), type(getattr(first, name))):
            found = type(getattr(run, name)).__name__[:40]
            return f"After loading, run.{name} is no {kind} any more, but of type {found}."
    return ""


def partner(function: Callable, name: str) -> Callable | None:
    """The function of this name that the student wrote beside another one."""
    own = getattr(inspect.unwrap(function), "__globals__", {})
    found = own.get(name, getattr(sys.modules["__main__"], name, None))
    return found if callable(found) else None


def _saved_run(save_checkpoint: Callable, trial: ResumeTrial, folder: Path) -> tuple[Run, list[Disk], list[int]]:
    """A whole run that is saved after every micro-batch; what is on disk at each kill; after how many something was written."""
    run, fresh = trial.problem.start(), []
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
    """A copy of all parameters as one vector, in float64, which changes no bit of what they say."""
    return torch.cat([p.detach().reshape(-1).to("cpu", torch.float64) for p in run.model.parameters()])


def digests(run: Run) -> dict[str, str]:
    """A short text for the state of each piece: equal texts, equal states, to the last bit."""
    try:
        return {name: _digest(value) for name, value in state_of(run).items()}
    except (TypeError, ValueError, AttributeError, RuntimeError):  # a piece was replaced by something else
        return {}


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(_canonical(value)).encode()).hexdigest()[:16]


def _canonical(value: Any) -> Any:
    """Plain values in a fixed order; a number is the same as a tensor of one."""
    if isinstance(value, Tensor):
        packed = value.dtype == torch.uint8 and value.numel() % 8 == 0  # the long states of generators
        return (value.contiguous().view(torch.int64) if packed else value.double()).tolist()
    if isinstance(value, dict):
        return sorted((str(key), _canonical(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return float(value) if isinstance(value, int | float) else value


@dataclass(frozen=True)
class Uninterrupted:
    """The run that was never killed: its losses, its end, and its pieces after every micro-batch."""

    losses: Tensor
    end: Tensor
    pieces: tuple[dict[str, str], ...]


@cache
def uninterrupted(problem: RunProblem) -> Uninterrupted:
    """Train a run without any checkpoint."""
    with torch.random.fork_rng(devices=[]):
        run = problem.start()
        pieces, losses = [digests(run)], []
        while run.position < problem.total:
            losses.append(run.train_micro_batch())
            pieces.append(digests(run))
    return Uninterrupted(torch.tensor(losses, dtype=torch.float64), flat_parameters(run), tuple(pieces))


def boundary(trial: ResumeTrial, kill: int) -> int:
    """After how many micro-batches the last checkpoint was finished before a kill."""
    whole = kill - 1 if trial.while_saving else kill
    return max(k for k in trial.problem.boundaries() if k <= whole)


def resumed_message(trial: ResumeTrial, seen: Observation) -> str:
    """What is wrong with the resumed runs; empty if each did, to the last bit, what was still to be done."""
    if seen.failure:
        return seen.failure.message
    due = uninterrupted(trial.problem)
    if not _same(seen.tensors.get("end"), due.end):
        return "With checkpoints the run does not end where it ends without."
    for k, kill in enumerate(trial.kills):
        losses, left = seen.tensors.get(f"losses {k}"), trial.problem.total - boundary(trial, kill)
        if losses is None or losses.dim() != 1:
            return "There is nothing to see of a resumed run."
        if len(losses) < trial.problem.total - kill:
            return _FROM_THE_FUTURE
        if len(losses) > left:
            return "A resumed run repeats updates that the checkpoint should have kept."
        if not _same(seen.tensors.get(f"end {k}"), due.end) or not _same(losses, due.losses[len(due.losses) - len(losses) :]):
            return "A resumed run does not end, bit by bit, where the uninterrupted one does."
    return ""


_FROM_THE_FUTURE = "A resumed run went on from a moment after the kill, of which nothing can have been on disk."


def _same(found: Tensor | None, due: Tensor) -> bool:
    return found is not None and found.dtype == due.dtype and found.shape == due.shape and torch.equal(found, due)


def forgotten(trial: ResumeTrial, seen: Observation) -> list[str]:
    """Slugs for the pieces that were not as they were when the checkpoint was due, at any of the kills."""
    if seen.failure:
        return [slug for fact, slug in REFUSED.items() if seen.facts.get(fact) is True]
    if not _same(seen.tensors.get("end"), uninterrupted(trial.problem).end):
        return ["saving-disturbs"]
    if resumed_message(trial, seen) == _FROM_THE_FUTURE:
        return ["checkpoint-in-memory"]
    due, slugs = uninterrupted(trial.problem).pieces, []
    reports = seen.facts.get("pieces")
    if not isinstance(reports, list) or len(reports) != len(trial.kills) or not all(isinstance(r, dict) for r in reports):
        return []
    if all(report == due[0] for report in reports) and any(due[boundary(trial, kill)] != due[0] for kill in trial.kills):
        return ["nothing-restored"]
    for kill, report in zip(trial.kills, reports, strict=True):
        place, wrong = _read_off(trial, kill, report)
        if trial.problem.is_open(place):
            slugs.append("mid-window-checkpoint")
        elif place < boundary(trial, kill):
            written = seen.facts.get("fresh")
            newer = isinstance(written, list) and boundary(trial, kill) in written
            slugs.append("older-checkpoint-loaded" if newer else "checkpoint-too-old")
        slugs += [SLUGS[piece] for piece in wrong]
    return slugs


def _read_off(trial: ResumeTrial, kill: int, report: dict[str, Any]) -> tuple[int, list[str]]:
    """After how many micro-batches a loaded state was saved, and which of its pieces are not as they were then."""
    due = uninterrupted(trial.problem).pieces
    wrong = {place: [piece for piece in PIECES if report.get(piece) != due[place][piece]] for place in range(kill + 1)}
    likely = min((boundary(trial, kill), kill), key=lambda place: len(wrong[place]))
    whole = [place for place in wrong if not wrong[place]]
    place = whole[-1] if whole and wrong[likely] else likely  # an older state is believed only if it is complete
    return place, wrong[place]
