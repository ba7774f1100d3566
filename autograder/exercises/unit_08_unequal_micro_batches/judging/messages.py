"""What is wrong with a training loop over tokens, in words for students."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.diagnosing.update_words import CLIPPED, ROUND, SAME
from autograder.judging.large_batches import (
    SEVERAL_GRAPHS,
    holds_several_graphs,
    is_cut_finely,
    is_one_forward,
    window_gradient,
)
from autograder.judging.left_behind import kept_message
from autograder.judging.reported_losses import UNASKED, Losses, losses_in_words, same_numbers
from autograder.judging.token_loops import (
    has_other_rates,
    is_nan_somewhere,
    losses_after_updates,
    losses_in_evaluation,
    losses_of_windows,
    movements_of,
    reference,
    trains_like,
    window_tokens,
)
from autograder.judging.tolerances import close
from autograder.observing.token_loops import TokenLoopTrial
from autograder.support.counted import counted
from gradaccum.problems import trainable


def movements_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """What is wrong with the single updates of a frozen run; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    found, due = seen.tensors["movements"], movements_of(trial)
    if not len(found):
        return "No update is made by the step of the optimizer that you are given."
    moving = found[found.any(1)]  # a step without gradients does nothing
    if len(moving) > len(due):
        return f"Your loop makes {counted(len(moving), 'update')} where {len(due)} are due."
    if not close(moving.to(due), due, trial.problem.dtype):
        return "The updates are not those of the mean over each window's tokens."
    return ""


def losses_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """What is wrong with the returned losses; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one number for each window."
    due = losses_of_windows(trial.problem)
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due]:
        return "Your list does not have one loss for each window" + _lengths_in_words(seen.facts["losses"], due)
    if same_numbers(seen.facts["losses"], due):
        return ""
    if not seen.facts["update_epochs"]:
        return UNASKED
    words = losses_in_words(seen.facts["losses"], due, window_tokens(trial.problem)).replace("samples", "tokens")
    if same_numbers(seen.facts["losses"], losses_in_evaluation(trial.problem)):
        words = " They are those that the model has in evaluation mode."
    return f"The returned numbers are not those due, the mean losses over each window's tokens.{words}"


def groups_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """That the first update is right in some of the optimizer's groups and not in others; empty if not."""
    moves = has_other_rates(trial, seen)
    what = "movements" if moves else "gradients"
    due, found = reference(trial).tensors[what][0], seen.tensors.get(what)
    if found is None or not len(found):
        return ""
    model = trial.problem.build_model()
    groups = [{id(p) for p in group["params"]} for group in trial.problem.build_optimizer(model).param_groups]
    parts: list[list[tuple[Tensor, Tensor]]] = [[] for _ in groups]
    trained = trainable(model)
    sizes = [p.numel() for p in trained]
    for parameter, *pair in zip(trained, found[0].to(due).split(sizes), due.split(sizes), strict=True):
        place = next(k for k, group in enumerate(groups) if id(parameter) in group)
        parts[place].append((pair[0], pair[1]))
    fine = [close(torch.cat([f for f, _ in part]), torch.cat([d for _, d in part]), trial.problem.dtype) for part in parts]
    if all(fine) or not any(fine):
        return ""
    if moves:
        return "The optimizer has several groups of parameters: the first update moves some of them as is due, others not."
    return "The optimizer has several groups of parameters: some have the right gradient at the first update, others do not."


def ignoring_message(*runs: tuple[TokenLoopTrial, Observation]) -> str:
    """That updates are wrong under one of two ignore indices and right under the other; empty if it is not so."""
    wrong = [trial.problem.ignore_index for trial, seen in runs if movements_message(trial, seen)]
    right = [trial.problem.ignore_index for trial, seen in runs if not movements_message(trial, seen)]
    if not (wrong and right) or any(seen.failure for _, seen in runs):
        return ""
    return (
        f"Where ignore_index is {wrong[0]}, the updates are not those of the mean over each window's tokens. "
        f"Where it is {right[0]}, they are."
    )


def skipped_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """That a loop makes fewer updates than there are windows, all of which have tokens; empty if it does not."""
    made, due = len(seen.facts.get("update_epochs", ())), sum(map(len, window_tokens(trial.problem)))
    return f" Your loop makes {counted(made, 'update')} where {due} are due." if not seen.failure and made < due else ""


def clipped_message(observations: Mapping[str, Observation]) -> str:
    """That all longer gradients were cut to one round length at their updates; empty if not."""
    lengths = [seen.tensors["gradients"].norm(dim=1) for seen in observations.values() if "gradients" in seen.tensors]
    every = torch.cat(lengths) if lengths else torch.zeros(0)
    limit = next((limit for limit in ROUND if len(every) and abs(float(every.max()) - limit) <= SAME * limit), None)
    if limit is None or int((every >= limit * (1 - SAME)).sum()) < 2:
        return ""
    return CLIPPED.format(limit)


def live_losses_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """What is wrong with the losses returned by a loop whose updates on a trial are right; empty if nothing is."""
    due = reference(trial).facts["losses"]
    fine = None not in seen.facts["losses"] and same_numbers(seen.facts["losses"], due)
    if fine:
        return ""
    later = None not in seen.facts["losses"] and same_numbers(seen.facts["losses"], losses_after_updates(trial.problem))
    words = " They are its losses after the update." if later else ""
    return f"The returned numbers are not those due, the mean losses of each window's forward passes.{words}"


def stopped_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """That a loop stops at the first window without tokens of each epoch, if that explains its parameters; empty otherwise."""
    steps, epochs = trial.problem.accumulation_steps, zip(trial.problem.epochs, trial.problem.lengths, strict=True)
    until = [
        lengths[: next(first for first in range(0, len(counts), steps) if not sum(counts[first : first + steps]))]
        for counts, lengths in epochs
    ]
    shorter = replace(trial, problem=replace(trial.problem, lengths=tuple(until)))
    stops = not seen.failure and trains_like(shorter, seen)
    return "What comes after the window without tokens is not trained on, as if your loop stopped there." if stops else ""


def _lengths_in_words(returned: Losses, due: Losses) -> str:
    """Where a list is too long or too short, as the end of a sentence, and whether it holds earlier epochs, too."""
    lengths = zip(map(len, returned), map(len, due), strict=True)
    epoch, (found, right) = next((epoch, pair) for epoch, pair in enumerate(lengths, 1) if pair[0] != pair[1])
    kept = all(earlier and later[: len(earlier)] == earlier for earlier, later in pairwise(returned))
    more = " The list of each epoch begins with that of the epoch before." if kept else ""
    return f": in epoch {epoch} it has {counted(found, 'number')} for {counted(right, 'window')}.{more}"


def mode_and_memory_message(trials: Mapping[str, TokenLoopTrial], observations: Mapping[str, Observation]) -> str:
    """What is wrong with the mode of the model afterwards, or with the memory that a window needs; empty if nothing is."""
    trial, seen = trials["memory"], observations["memory"]
    if len(observations["tokens"].tensors["gradients"]) < len(reference(trials["tokens"]).tensors["gradients"]):
        return "Some updates, or all, were not made by the step of the optimizer that you are given."
    if changed := kept_message(observations["tokens"]):
        return changed
    if seen.failure:
        return seen.failure.message
    if is_one_big_batch(trial, seen):
        return SEVERAL_GRAPHS
    fine = is_cut_finely(trial.problem, window_gradient(trial.problem, seen))
    return "" if fine else "A window of many micro-batches is not trained like their mean over tokens."


def is_one_big_batch(trial: TokenLoopTrial, seen: Observation) -> bool:
    """Whether a window costs as much memory as one large batch.

    The bytes are what the student's process says. Whether all samples went through the model together is read off the
    parameters, which cannot be forged.
    """
    if seen.failure:
        return False
    return holds_several_graphs(trial, seen) or is_one_forward(trial.problem, window_gradient(trial.problem, seen))


def empty_windows_message(trial: TokenLoopTrial, seen: Observation, reports: bool) -> str:
    """What is wrong with the losses where micro-batches have no tokens; empty if nothing is.

    Only NaN, the number of losses, and the losses of windows without tokens are checked.

    Args:
        trial: with micro-batches without tokens.
        seen: what the loop did.
        reports: whether the loop returns a right loss for each window elsewhere, and so must return one for each here.
    """
    if is_nan_somewhere(seen):
        return "A loss you return is NaN."
    steps, returned = trial.problem.accumulation_steps, seen.facts["losses"]
    for counts, losses in zip(trial.problem.epochs, returned, strict=True):
        starts = range(0, len(counts), steps)
        if losses is None or len(losses) != len(starts):
            if reports:
                return "Your list does not have one loss for each window, and 0 for a window without tokens."
            continue
        if any(loss and not sum(counts[first : first + steps]) for first, loss in zip(starts, losses, strict=True)):
            return "The loss of a window without tokens is not 0."
    return ""
