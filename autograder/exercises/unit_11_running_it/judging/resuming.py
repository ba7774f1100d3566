"""Killing a training run and resuming it: what a right run does, and what a wrong one has forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_11_running_it.observing.resuming import ResumeTrial, digests, flat_parameters
from gradaccum.resuming import PIECES, RunProblem

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
"""By the piece of a run that a checkpoint does not restore."""

REFUSED = {"refused": "objects-in-the-file", "replaced": "state-in-place-of-object"}
"""By the fact that was observed together with a failure."""


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
