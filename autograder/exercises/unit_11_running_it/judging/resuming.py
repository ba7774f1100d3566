"""Killing a training run and resuming it: what a right run does, and what a wrong one has forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_11_running_it.observing.resuming import GRADIENTS, ResumeTrial, digests, flat_parameters
from gradaccum.resuming import PIECES

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

LOST_WHILE_SAVING = "Killed inside save_checkpoint, the run goes on neither from the new checkpoint nor from the one before."

ELSEWHERE = "A resumed run does not go on, bit by bit, as the uninterrupted one does."

SAID = {
    "training": "After loading, its model or a part of it is in evaluation mode.",
    "scheduled": "After loading, run.scheduler sets the rate of another optimizer than run.optimizer.",
}
"""What is said as well, by the fact that is not so."""

TRAINED_WHILE_LOADING = "Your load_checkpoint itself trains again on micro-batches whose updates had been made before the kill."

NESTED = "You make a folder in the folder of path. Only files that lie in the folder of path itself are left."

UNWRITTEN = (
    "In the run tried, your save_checkpoint puts nothing into the folder of path. Only what is there is left after a kill."
)

TRAINS_ON = "Your load_checkpoint itself trains, and the resumed run has less left to do than it should."

CHANGED_WITHOUT = "There is no checkpoint yet, and still the run is not the same after load_checkpoint as before."

REFUSED = {"refused": "objects-in-the-file", "foreign": "file-of-another-kind", "replaced": "state-in-place-of-object"}
"""By the fact that was observed together with a failure."""


@dataclass(frozen=True)
class Uninterrupted:
    """The run that was never killed: its losses, and its parameters and pieces at its building and after every micro-batch."""

    losses: Tensor
    parameters: tuple[Tensor, ...]
    pieces: tuple[dict[str, str], ...]


def uninterrupted(trial: ResumeTrial) -> Uninterrupted:
    """Train a run without any checkpoint."""
    return _uninterrupted(ResumeTrial(trial.problem, (), stretch=trial.stretch))


@cache
def _uninterrupted(trial: ResumeTrial) -> Uninterrupted:
    problem = trial.problem
    with torch.random.fork_rng(devices=[]):
        run = problem.start()
        pieces, parameters, losses = [digests(run)], [flat_parameters(run)], []
        trial.begin(run)
        while run.position < problem.total:
            losses.append(run.train_micro_batch())
            parameters.append(flat_parameters(run))
            pieces.append(digests(run))
    return Uninterrupted(torch.tensor(losses, dtype=torch.float64), tuple(parameters), tuple(pieces))


def boundary(trial: ResumeTrial, kill: int) -> int:
    """After how many micro-batches the last checkpoint was finished before a kill."""
    whole = kill - 1 if trial.while_saving else kill
    return max(k for k in trial.problem.boundaries() if k <= whole)


def resumed_message(trial: ResumeTrial, seen: Observation) -> str:
    """What is wrong with the resumed runs; empty if each did, to the last bit, what was still to be done."""
    if seen.failure:
        return seen.failure.message
    due = uninterrupted(trial)
    if disturbed(trial, seen):
        return "With checkpoints the run does not go where it goes without."
    for k, kill in enumerate(trial.kills):
        losses, left = seen.tensors.get(f"losses {k}"), trial.problem.total - boundary(trial, kill)
        if losses is None or losses.dim() != 1:
            return "There is nothing to see of a resumed run."
        if len(losses) < trial.problem.total - kill:
            left_out = "A resumed run leaves out micro-batches that had not been trained on before the kill."
            return TRAINS_ON if _trains_on(trial, seen, k) else left_out
        if len(losses) > left:
            return "A resumed run trains again on micro-batches whose updates had been made before the kill."
        rest = due.losses[len(due.losses) - len(losses) :]
        if not (_same(seen.tensors.get(f"end {k}"), due.parameters[-1]) and _same(losses, rest)):
            return " ".join((ELSEWHERE, *(said for fact, said in SAID.items() if seen.facts.get(fact) is False)))
        if (seen.facts.get("again") or {k: kill})[k] < boundary(trial, kill):
            return TRAINED_WHILE_LOADING
    return ""


def _trains_on(trial: ResumeTrial, seen: Observation, k: int) -> bool:
    """Whether loading itself trains, and less is left for a resumed run than there was when it was killed."""
    losses, again, total = seen.tensors.get(f"losses {k}"), seen.facts.get("again"), trial.problem.total
    if losses is None or again is None:
        return False
    return len(losses) < total - trial.kills[k] and bool(again[k] < total)


def start_message(trial: ResumeTrial, seen: Observation, said: str) -> str:
    """What is wrong where there is no checkpoint yet, given what :func:`resumed_message` says of it."""
    untouched = uninterrupted(trial).pieces[0]
    changed = any(report != untouched for report in seen.facts.get("pieces", ()))
    return CHANGED_WITHOUT if said and changed and not seen.failure else said


def saving_message(seen: Observation, lost: str) -> str:
    """What is wrong with runs that are killed inside ``save_checkpoint``; empty if nothing is.

    Args:
        seen: what was observed of them.
        lost: what :func:`resumed_message` says of them.
    """
    if seen.failure and seen.facts.get("cannot_save") is True:
        return f"A run that was killed inside save_checkpoint goes on, but cannot be saved any more. {seen.failure.message}"
    if lost:
        return LOST_WHILE_SAVING
    if seen.facts.get("saved_on") != [True] * len(seen.facts.get("pieces", ())):
        return "A run that was killed inside save_checkpoint goes on, but not all of its later checkpoints restore it."
    return ""


def disturbed(trial: ResumeTrial, seen: Observation) -> bool:
    """Whether the parameters of the run that was saved are not, when it is killed, those of a run that is never saved."""
    killed = trial.resumed_at or max(trial.kills)
    return killed > 0 and not _same(seen.tensors.get("killed"), uninterrupted(trial).parameters[killed])


def is_in_memory(seen: Observation) -> bool:
    """Whether the process that saved restores a piece of the run that another one, given the same files, does not."""
    if seen.facts.get("nested"):  # it may have read files that are not carried
        return False
    there, saved, pieces = (seen.facts.get(name) or {} for name in ("there", "saved", "pieces"))
    here = pieces[-1] if pieces else seen.facts.get("here", {})
    return any(saved.get(name) == found != here.get(name) for name, found in there.items())


def _same(found: Tensor | None, due: Tensor) -> bool:
    return found is not None and found.dtype == due.dtype and found.shape == due.shape and torch.equal(found, due)


def leaves_alone(trial: ResumeTrial, seen: Observation) -> bool:
    """Whether loading leaves each of the runs as it was built."""
    return all(report == uninterrupted(trial).pieces[0] for report in seen.facts.get("pieces") or ())


def forgotten(trial: ResumeTrial, seen: Observation, nothing: bool = True) -> list[str]:
    """Slugs for the pieces that were not as they were when the checkpoint was due, at any of the kills.

    Args:
        trial: what was tried.
        seen: what was observed of it.
        nothing: whether loading changes nothing in other trials, either.
    """
    if is_in_memory(seen):
        return ["checkpoint-in-memory"]
    if seen.failure:
        return [slug for fact, slug in REFUSED.items() if seen.facts.get(fact) is True]
    if disturbed(trial, seen):
        return ["saving-disturbs"]
    due, slugs = uninterrupted(trial).pieces, []
    reports = seen.facts.get("pieces")
    if not isinstance(reports, list) or len(reports) != len(trial.kills) or not all(isinstance(r, dict) for r in reports):
        return []
    if nothing and leaves_alone(trial, seen) and any(due[boundary(trial, kill)] != due[0] for kill in trial.kills):
        return ["nothing-restored"]
    written = seen.facts.get("fresh") or []
    for k, (kill, report) in enumerate(zip(trial.kills, reports, strict=True)):
        if _trains_on(trial, seen, k):  # its pieces have gone on
            continue
        place, wrong = _read_off(trial, kill, report, written)
        if trial.problem.is_open(place):
            slugs += ["mid-window-checkpoint"] * (report.get(GRADIENTS) != due[place][GRADIENTS])
        elif place < boundary(trial, kill):
            slugs.append("older-checkpoint-loaded" if boundary(trial, kill) in written else "checkpoint-too-old")
        slugs += [SLUGS[piece] for piece in wrong]
    return slugs


def _read_off(trial: ResumeTrial, kill: int, report: dict[str, Any], written: list[int]) -> tuple[int, list[str]]:
    """After how many micro-batches a loaded state was saved, and which of its pieces are not as they were then.

    Of all updates, and the moments in a window at which something was written, it is the one of which most pieces came back. A
    piece that is as in any run that was just built tells nothing, unless all of them are.
    """
    due = uninterrupted(trial).pieces

    def restored(place: int) -> int:
        return sum(report.get(piece) == due[place][piece] != due[0][piece] for piece in PIECES)

    earlier = (place for place in range(kill, 0, -1) if place in written or not trial.problem.is_open(place))
    place = max((boundary(trial, kill), *earlier), key=restored)  # the first of several
    if report == due[0]:
        place = 0
    wrong = [piece for piece in PIECES if piece in report and report[piece] != due[place][piece]]
    states = (str(pieces.get("optimizer")).partition(":")[0] for pieces in (report, due[place]))
    by_schedule = {"optimizer"} if "scheduler" in wrong and len({*states}) == 1 else set()  # it sets the rate
    return place, [piece for piece in wrong if piece not in by_schedule]
