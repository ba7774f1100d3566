"""What is wrong with a capstone run, in words for students: its weights, its memory, its resuming, what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import torch

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.judging.references import (
    ceiling_of,
    digits_kept,
    first_difference,
    history_due,
    history_of,
    large_run_due,
    nearly_like,
    run_due,
    start_of,
    weights_like,
)
from autograder.exercises.unit_12_capstone.judging.reports import NUMBERS, History, Trials, same
from autograder.exercises.unit_12_capstone.observing import MAX_UPDATES, RunTrial, WindowTrial
from autograder.judging.left_behind import MESSAGES
from autograder.judging.number_relations import rows_in_words
from autograder.judging.returned_kinds import returned_instead
from autograder.support.counted import counted
from autograder.support.side_by_side import side_by_side
from gradaccum.capstone.config import Config

NAMES = {
    "tokens": "The tokens you report are not the window's tokens without padding.",
    "losses": "The losses you report are not the mean over the window's tokens, before the update.",
    "norms": "The norms you report are not those of the window's gradient before clipping.",
    "rates": "The rates you report are not those that the updates used.",
}


LARGE = "one large batch for each window"
ONE_BY_ONE = "a right run with micro-batches of this size"


def weights_message(seen: Observation, due: Observation, config: Config, whose: str = LARGE) -> str:
    """What is wrong with the weights; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if weights_like(seen, due, config):
        return ""
    update = first_difference(seen, due, config)
    if not update and (rows := seen.tensors.get("rows")) is not None and len(rows) != len(due.tensors["rows"]):
        return f"Your run made {counted(len(rows), 'update')} where there should be {len(due.tensors['rows'])}."
    where = f"From update {update} on the" if update else "The"
    return f"{where} weights are not those of {whose}."


SAME_WAY = 0.9995
"""Cosine from which a movement counts as one in the same direction."""

SLIGHTLY = 0.99
"""Cosine from which a direction is only slightly another one."""


def movement_in_words(seen: Observation, due: Observation, config: Config) -> str:
    """How far the first wrong update moves the weights, and which way, beside the one due; empty if that cannot be said.

    Weights in another dtype are rounded before an update moves them. So of those nothing else is said.
    """
    update = first_difference(seen, due, config)
    if seen.failure or not update:
        return ""
    if "dtypes" in seen.facts.get("fewer", ()):
        return DIGITS["dtypes"]
    rows, wanted = seen.tensors["rows"], due.tensors["rows"]
    before = start_of(config).to(wanted) if update == 1 else wanted[update - 2]
    moved, right = rows[update - 1].to(wanted) - before, wanted[update - 1] - before
    if not (torch.isfinite(moved).all() and moved.any() and right.any()):
        return ""
    cosine = float(torch.cosine_similarity(moved, right, dim=0))
    other = "in a slightly different direction" if cosine > SLIGHTLY else "in another direction"
    way = "in the same direction" if cosine > SAME_WAY else f"{other} (cosine {side_by_side(cosine, 1.0, 2)[0]})"
    times = f"{float(moved.norm() / right.norm()):.3g}"
    if times == "1" and cosine > SAME_WAY:
        return f"Update {update} moves the weights almost, but not exactly, as it should."
    far = "as far as it should" if times == "1" else f"{times} times as far as it should"
    other_number = len(rows) not in (len(wanted), MAX_UPDATES)
    updates = f" Your run makes {counted(len(rows), 'update')} where {len(wanted)} are due." if other_number else ""
    return f"Update {update} moves the weights {far}, {way}.{updates}"


def run_message(seen: Observation, due: Observation, config: Config, whose: str = LARGE) -> str:
    """What is wrong with the weights of a run; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if not seen.facts.get("built"):
        return "No run was made: call config.build() and train what it gives you."
    return weights_message(seen, due, config, whose)


DIGITS = {
    "precision": MESSAGES["precision"],
    "loss": "Your loss is computed in a dtype that has fewer digits than the logits.",
    "dtypes": MESSAGES["dtypes"],
}
"""What to say of what has fewer digits than the model, by the name it was observed under."""


def digits_message(observations: Iterable[Observation]) -> str:
    """That something has fewer digits than the model, which the weights hardly show; empty if nothing does."""
    seen = {kind for one in observations for kind in one.facts.get("fewer", ())}
    return next((message for kind, message in DIGITS.items() if kind in seen), "")


def left_message(observations: Iterable[Observation]) -> str:
    """What windows leave otherwise than they found it, although their weights are right; empty if nothing."""
    seen = [one for one in observations if not one.failure]
    facts = [one.facts for one in seen]
    if not all(one["training"] for one in facts):
        return "Your function left the model, or a part of it, in evaluation mode."
    if not all(one["kept"] for one in facts):
        return "Your function changed the list of micro-batches that it was given."
    if not all(one["intact"] for one in facts):
        return MESSAGES["data"]
    return digits_message(seen)


NEARLY_DUE = (
    "With full windows, the weights are those due except for less than 1% of how far training moves them. A count may be "
    "slightly off, digits may be lost, or a small term may have come in."
)

DIGITS_LOST = (
    "Your weights are close to those due, but they are off by more than the rounding of the model's dtype, as if something "
    "had fewer digits or a small term had come in."
)


def nearly_message(trials: Trials, observations: Mapping[str, Observation], due: Mapping[str, Observation], name: str) -> str:
    """That weights on a trial are wrong by little; empty if they are right, or wrong by more."""
    seen = observations[name]
    return NEARLY_DUE if not seen.failure and nearly_like(seen, due[name], trials[name].config) else ""


def digits_lost(
    trials: Trials,
    observations: Mapping[str, Observation],
    due: Mapping[str, Observation],
    names: Sequence[str] = ("full", "uneven", "single"),
    tensors: Sequence[str] = ("final",),
) -> str:
    """That weights on these trials, of which none clips, are those due, but not to all digits; empty if that is not so."""
    pairs = [(observations[name], due[name], trials[name].config, tensor) for name in names for tensor in tensors]
    seen = [pair for pair in pairs if not pair[0].failure and weights_like(*pair)]
    return "" if all(digits_kept(*pair) for pair in seen) else DIGITS_LOST


UNKNOWN = "How much memory your run needed is not known."


def budget_message(trial: RunTrial, seen: Observation) -> str:
    """What is wrong with how much a run held at once; empty if nothing is.

    The bytes are what the student's process says. Which lines went through the model together is seen from the weights, for the
    trial's model is coupled.
    """
    if seen.failure:
        return seen.failure.message
    if weights_like(seen, large_run_due(trial), trial.config):
        return "All lines of a window go through the model together: this is the batch that does not fit."
    peak, limit = seen.facts.get("peak_bytes"), ceiling_of(trial.config)
    if not isinstance(peak, int) or isinstance(peak, bool) or peak <= 0:
        return UNKNOWN
    return f"At its peak your run held {peak:,} bytes, and it may hold {limit:,}." if peak > limit else ""


def other_size(trial: RunTrial, seen: Observation) -> str:
    """That other micro-batches than those of the config go through the model, in words; empty if they do not.

    No micro-batch of the trial is ragged.
    """
    due, found = trial.config.micro_batch_size, seen.facts["lines"]
    if len(found) != 1 or found == [due]:
        return ""
    return f"Your model reads {counted(found[0], 'line')} at a time, where config.micro_batch_size is {due}."


def budget_mistake(trial: RunTrial, seen: Observation) -> tuple[str, ...]:
    """The slug of what made a run hold too much, by when it did, as the student's process says; none if that is not clear.

    Until the first micro-batch, from there to the first update, and later, a run may need more than a right one does.
    """
    if weights_like(seen, large_run_due(trial), trial.config):
        return ("one-big-batch",)
    times = ("peak_before", "peak_first", "peak_bytes")
    found, due = ([one.facts.get(name) or 0 for name in times] for one in (seen, run_due(trial)))
    excess = [mine - right for mine, right in zip(found, due, strict=True)]
    limit, (before, first, _) = ceiling_of(trial.config), excess
    more = {"budget-spent-before-training": before, "one-big-batch": first - before}
    if found[1] <= limit:
        more["memory-grows-with-updates"] = excess[2] - first
    slug = max(more, key=lambda name: more[name])
    return (slug,) if found[2] - more[slug] <= limit else ()


TRAINED_AGAIN = "After resuming, your run makes updates again that it had made before the stop."

LAST_STOP = (
    "The second of these stops is at the last update of the run. The next call makes the updates since the first stop again, "
    "as if nothing had been written at the second."
)

OVERWRITTEN = (
    "At the end of a resumed run, config.checkpoint no longer holds what the run continued from. Write the file only at a stop."
)


def resume_message(trial: RunTrial, seen: Observation, due: Observation) -> str:
    """What is wrong with a run that was stopped and went on; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if seen.facts.get("written") is not True:
        return "Your run should have stopped after some updates, but it wrote no file at config.checkpoint."
    stopped = history_of(seen, "stopped")
    due_then, made = trial.stops[0], seen.facts["steps 0"]
    if made != due_then:
        return f"Your run should have stopped after {counted(due_then, 'update')}, but it made {counted(made, 'update')}."
    if stopped is None or len(stopped["losses"]) != due_then:
        held = "no History" if stopped is None else f"a history of {counted(len(stopped['losses']), 'update')}"
        return f"Your run stops after {counted(due_then, 'update')}, but instead of their history it returns {held}."
    if not weights_like(seen, run_due(trial), trial.config, "stopped"):
        return "The weights of the run that was stopped are not those of large batches."
    if not weights_like(seen, due, trial.config):
        found, wanted = history_of(seen), history_due(due)
        if found and len(found["losses"]) != len(wanted["losses"]):
            return f"After resuming, {_updates_told(found, wanted)}"
        said = "A run that was stopped and resumed does not end where an uninterrupted run ends."
        return f"{said}{_history_in_words(found, wanted)}"
    if said := _count_message(seen, due):
        return said
    if not weights_like(seen, due, trial.config, "last"):
        said = "A run that was stopped and resumed a second time does not end where an uninterrupted run ends."
        made, left = seen.facts[f"steps {len(trial.stops)}"], trial.config.updates - trial.stops[-1]
        return (
            said if made == left else f"{said} After its second stop it makes {counted(made, 'update')} where {left} are left."
        )
    due_steps = [end - begin for begin, end in pairwise((0, *trial.stops, trial.config.updates))]
    if any(seen.facts[f"steps {k}"] > steps for k, steps in enumerate(due_steps)):
        return TRAINED_AGAIN
    return "" if seen.facts["left"] else OVERWRITTEN


LEFT_A_FILE = "A run that is not asked to stop leaves a file behind."


def repeated_mistake(trial: RunTrial, seen: Observation) -> str:
    """The slug of why a run makes updates again, by how many each call makes; empty if they tell nothing."""
    due = trial.config.updates
    if seen.facts["steps 2"] == due - trial.stops[0]:
        return "resume-second-stop-not-saved"
    again = seen.facts["steps 2"] == due or seen.facts["steps 1"] == trial.stops[1]
    return "resume-starts-over" if again else ""


def stepped_otherwise(trial: WindowTrial, seen: Observation) -> str:
    """That the optimizer makes another number of steps than there are windows; empty if it does not."""
    made, due = seen.facts.get("steps"), trial.config.updates
    if seen.failure or made == due:
        return ""
    return f"optimizer.step() is called {counted(int(made or 0), 'time')} for {counted(due, 'window')}; once for each is due."


def entered_otherwise(seen: Observation) -> str:
    """That a run enters another number of updates into its history than it makes; empty if it does not."""
    history, steps = history_of(seen), seen.facts.get("steps")
    if seen.failure or history is None or steps == len(history["losses"]):
        return ""
    return f"Your run makes {counted(int(steps or 0), 'update')} and enters {len(history['losses'])} into its history."


def leftover_message(trial: RunTrial, seen: Observation) -> str:
    """What is wrong with a run that was stopped at a leftover, and again in a later epoch; empty if nothing is."""
    said = resume_message(trial, seen, large_run_due(trial))
    return said if seen.failure or not said else f"With a stop at a leftover and one in the third epoch: {said}"


def history_message(seen: Observation, due: Observation, right: bool) -> str:
    """What is wrong with a history; empty if nothing is.

    Args:
        seen: with the history.
        due: with the one due.
        right: whether the weights are right. If they are not, only what does not depend on them is compared: how many updates
            there were, their tokens, and the first loss.
    """
    if said := seen.failure.message if seen.failure else _count_message(seen, due):
        return said
    found, wanted = history_of(seen), history_due(due)
    assert found is not None  # or there would have been a message already
    for name, message in NAMES.items():
        upto = len(found["losses"]) if right or name == "tokens" else int(name == "losses")
        if not same(found[name][:upto], wanted[name][:upto]):
            told = right or name == "tokens"  # these do not depend on the weights
            pair = [found[name][:upto]], [wanted[name][:upto]]
            words = rows_in_words(*pair, "In one of the runs, each of these numbers", NUMBERS) if told else ""
            return f"{message}{words and f' {words}'}"
    return ""


def _count_message(seen: Observation, due: Observation) -> str:
    """What is wrong with a history without a look at its numbers; empty if there is one and it has the right length."""
    found, wanted = history_of(seen), history_due(due)
    if found is None:
        kind = seen.facts.get("type", "History")
        if kind != "History":
            return returned_instead(kind, "the run's History")
        return "The history does not hold plain numbers for every update."
    if len(found["losses"]) == len(wanted["losses"]):
        return ""
    said = _updates_told(found, wanted)
    return said[0].upper() + said[1:]


def _history_in_words(found: History | None, wanted: History) -> str:
    """The first number of a history of equal length that is not the one due, as another sentence; empty if all are."""
    for k in range(len(wanted["rates"]) if found else 0):
        for what in ("rates", "losses"):
            if found and not same(found[what][k : k + 1], wanted[what][k : k + 1]):
                name = {"rates": "rate", "losses": "loss"}[what]
                yours, right = side_by_side(found[what][k], wanted[what][k])
                return f" In its history, the {name} of update {k + 1} is {yours}, where {right} is due."
    return ""


def _updates_told(found: History, wanted: History) -> str:
    return f"the history covers {len(found['losses'])} updates where there should be {len(wanted['losses'])}."
