"""What is wrong with a training loop's updates, its graphs and the losses it returns, in words for students.

Each message is empty if nothing is wrong.
"""

from __future__ import annotations

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import read_observation
from autograder.judging.large_batches import (
    JOINED,
    forwards_message,
    groups_in_words,
    moves_like_large_batches,
    updates_in_epochs,
    window_gradient,
    window_samples,
)
from autograder.judging.left_behind import DATA, kept_message
from autograder.judging.reported_losses import (
    CHANGED_LATER,
    loss_mistakes,
    losses_in_words,
    moving_window_losses,
    same_numbers,
    window_losses,
)
from autograder.observing.loops import LoopTrial
from autograder.support.counted import counted

WRONG_MOVES = "The parameters after training are not those of one large batch per window."


def movement_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with the parameters after training."""
    if seen.failure:
        return seen.failure.message
    return "" if moves_like_large_batches(trial, seen) else WRONG_MOVES


def repaired_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with a repaired loop: with what it leaves behind, its parameters, or what makes its updates."""
    if seen.failure:
        return seen.failure.message
    if changed := kept_message(seen, DATA):  # other data are why the parameters are others
        return changed
    if wrong := movement_message(trial, seen) or kept_message(seen):
        return wrong
    windows, made = sum(map(len, window_samples(trial.problem))), len(seen.facts["update_epochs"])
    return "" if made >= windows else f"optimizer.step() makes {made} of the {windows} updates; the others are made without it."


def clean_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong at the ends of epochs.

    Updates of one epoch may hold that epoch's micro-batches only, and nothing of what was in ``.grad`` before.
    """
    if seen.failure:
        return seen.failure.message
    found = read_observation(trial, seen)
    assert found.stale is not None  # the trial's problem is stale
    if not found.linear:
        return "Updates are not combinations of micro-batch gradients, so we cannot tell which of them they hold."
    if bool((found.stale.abs() > 1e-4).any()):
        return "What .grad held before the call is part of an update."
    for row, epoch in zip(found.coefficients, found.row_epochs, strict=True):
        own = [e == epoch for e, _ in found.columns]
        if any(abs(value) > 1e-4 for value, mine in zip(row.tolist(), own, strict=True) if not mine):
            return "A gradient of one epoch is part of an update of the next."
    epochs_with_updates = {e for row, e in zip(found.coefficients, found.row_epochs, strict=True) if bool(row.any())}
    if len(epochs_with_updates) < len(trial.problem.epochs):
        return "In at least one epoch the optimizer's step applies no gradient."
    return ""


OVERFLOWED = "Where .grad held infinity before the call, and the optimizer has two groups of parameters, "


def overflow_message(trial: LoopTrial, seen: Observation, *, also_moves: bool) -> str:
    """What is wrong with a loop that finds infinity in ``.grad`` and two groups: parameters that are no numbers afterwards.

    With ``also_moves`` its updates have to be right, too; a loop whose updates are wrong elsewhere is told so there.
    """
    if seen.failure:
        return seen.failure.message
    if not bool(seen.tensors["parameters"].isfinite().all()):
        return f"{OVERFLOWED}parameters are infinite or NaN after it."
    if not also_moves or moves_like_large_batches(trial, seen):
        return ""
    missed = f"{OVERFLOWED}the parameters after training are not those due."
    return groups_in_words(trial, seen) or f"{missed} {updates_in_epochs(trial, seen)}".strip()


LATE = "Some micro-batches of a window go through the model only after its update."


def cut_message(trial: LoopTrial, seen: Observation, joined: int = 1) -> str:
    """What is wrong with how a loop cut a window into forwards; its problem is coupled and has one window.

    Forwards may have so many ``joined`` micro-batches.
    """
    if seen.failure:
        return seen.failure.message
    said = forwards_message(trial.problem, window_gradient(trial.problem, seen), joined)
    if said in ("", JOINED):
        return said
    if words := updates_in_epochs(trial, seen):  # of a window that was cut in two, forwards tell nothing
        return words
    return LATE if seen.facts["seen_at_first_update"] < seen.facts["micro_batches_seen"] else said


def losses_message(trial: LoopTrial, seen: Observation) -> tuple[str, tuple[str, ...]]:
    """What is wrong with the losses that a loop returned, and the slugs of the mistakes in them."""
    if seen.failure:
        return seen.failure.message, ()
    returned = seen.facts["losses"]
    if seen.facts["losses_changed"]:
        return CHANGED_LATER, ()
    if any(row is None for row in returned):
        return "Return a list with one number for each window.", ()
    due = window_losses(trial.problem)
    if same_numbers(returned, due) or same_numbers(returned, moving_window_losses(trial.problem)):
        return "", ()  # the second are those of a loop that moves the parameters by hand, which nothing puts back
    slugs = loss_mistakes(trial.problem, returned)
    for found, wanted in zip(returned, due, strict=True):
        if len(found) != len(wanted):
            return _number_of_losses(len(found), len(wanted)), slugs
    words = "" if slugs else losses_in_words(returned, due, window_samples(trial.problem))
    return f"The numbers returned are not those due, the mean losses of the windows over their samples, in order.{words}", slugs


def _number_of_losses(found: int, due: int) -> str:
    losses = "1 loss" if found == 1 else f"{found} losses"
    return f"An epoch has {counted(due, 'window')}, but your function returned {losses} for it."


def moving_losses_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with the losses that a loop returned while it trained as it should."""
    returned, due = seen.facts["losses"], moving_window_losses(trial.problem)
    if any(row is None for row in returned):
        return "Return a list with one number for each window."
    for found, wanted in zip(returned, due, strict=True):
        if len(found) != len(wanted):
            return _number_of_losses(len(found), len(wanted))
    if same_numbers(returned, due):
        return ""
    return "Not all losses returned are those that your forwards compute in training mode before the update."


def is_prefetched(trial: LoopTrial, seen: Observation) -> bool:
    """Whether more than the next window had been fetched at some update; a stream may be longer than memory.

    A loop with fewer updates than windows has to fetch more for each, so what counts are the updates that were still to come.
    """
    n, fetched = trial.problem.accumulation_steps, seen.facts["fetched"]
    return any(taken > (u + 2) * n and len(fetched) - u > 2 for u, taken in enumerate(fetched))


def is_whole_prefetched(trial: LoopTrial, seen: Observation) -> bool:
    """Whether the whole first epoch had been fetched before the first update."""
    fetched = seen.facts["fetched"]
    return bool(fetched) and fetched[0] == len(trial.problem.epochs[0])
