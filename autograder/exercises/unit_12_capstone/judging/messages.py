"""What is wrong with a capstone run, in words for students: its weights, its memory, its resuming, what it reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

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
    weights_like,
)
from autograder.exercises.unit_12_capstone.observing import RunTrial, WindowTrial
from autograder.judging.left_behind import MESSAGES
from autograder.judging.number_relations import relation
from autograder.support.counted import counted
from gradaccum.capstone.config import Config
from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in
from gradaccum.capstone.variants import MISTAKES, Window, weigh
from gradaccum.diagnosis.search import each_alone
from gradaccum.loops import windows

NAMES = {
    "tokens": "The tokens you report are not the window's tokens without padding.",
    "losses": "The losses you report are not the mean over the window's tokens, before the update.",
    "norms": "The norms you report are not those of the window's gradient before clipping.",
    "rates": "The rates you report are not those that the updates used.",
}

NUMBERS = 1e-5
"""Relative difference up to which two reported numbers are the same; wrong ones differ by more than 1e-3."""

History = Mapping[str, Sequence[float]]
Trials = Mapping[str, WindowTrial | RunTrial]


def weights_message(seen: Observation, due: Observation, config: Config) -> str:
    """What is wrong with the weights; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if weights_like(seen, due, config):
        return ""
    update = first_difference(seen, due, config)
    if not update and (rows := seen.tensors.get("rows")) is not None and len(rows) != len(due.tensors["rows"]):
        return f"Your run made {counted(len(rows), 'update')} where there should be {len(due.tensors['rows'])}."
    where = f"From update {update} on the" if update else "The"
    return f"{where} weights are not those of one large batch for each window."


def run_message(seen: Observation, due: Observation, config: Config) -> str:
    """What is wrong with the weights of a run; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if not seen.facts.get("built"):
        return "No run was made: call config.build() and train what it gives you."
    return weights_message(seen, due, config)


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
    "The weights are those due except for less than 1% of how far training moves them, as if numbers had lost digits on the "
    "way."
)

DIGITS_LOST = (
    "Something has fewer digits than the model: your weights are close to those due, but they are off by more than the "
    "rounding of its dtype."
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
    """That other micro-batches than those of the config go through the model, as a sentence to append; empty if they do not.

    No micro-batch of the trial is ragged.
    """
    others = [lines for lines in seen.facts["lines"] if lines != trial.config.micro_batch_size]
    passed = counted(others[0], "line") if others else ""
    return f" Your model reads {passed} at a time, where config.micro_batch_size is {trial.config.micro_batch_size}." * bool(
        others
    )


def budget_mistake(trial: RunTrial, seen: Observation) -> str:
    """The slug of what made a run hold too much, by when it did, as the student's process says."""
    if weights_like(seen, large_run_due(trial), trial.config):
        return "one-big-batch"
    limit, before, first = ceiling_of(trial.config), seen.facts.get("peak_before"), seen.facts.get("peak_first")
    if isinstance(before, int) and before > limit:
        return "budget-spent-before-training"
    return "memory-grows-with-updates" if isinstance(first, int) and first <= limit else "one-big-batch"


TRAINED_AGAIN = "After resuming, your run makes updates again that it had made before the stop."


def resume_message(trial: RunTrial, seen: Observation, due: Observation) -> str:
    """What is wrong with a run that was stopped and went on; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if seen.facts.get("written") is not True:
        return "Your run should have stopped after some updates, but it wrote no file at config.checkpoint."
    stopped = history_of(seen, "stopped")
    if stopped is None or len(stopped["losses"]) != trial.stop_after:
        return "Your run should have stopped after some updates and returned a history of exactly these, but it did not."
    if not weights_like(seen, run_due(trial), trial.config, "stopped"):
        return "The weights of the run that was stopped are not those of large batches."
    if not weights_like(seen, due, trial.config):
        found, wanted = history_of(seen), history_due(due)
        if found and len(found["losses"]) != len(wanted["losses"]):
            return f"After resuming, {_updates_told(found, wanted)}"
        said = "A run that was stopped and resumed does not end where an uninterrupted run ends."
        return f"{said}{_first_difference(found, wanted)}"
    if said := _count_message(seen, due):
        return said
    if not weights_like(seen, due, trial.config, "last"):
        return "A run that was stopped and resumed a second time does not end where an uninterrupted run ends."
    due_steps = [end - begin for begin, end in pairwise((0, *trial.stops, trial.config.updates))]
    if any(seen.facts[f"steps {k}"] > steps for k, steps in enumerate(due_steps)):
        return TRAINED_AGAIN
    return "" if seen.facts["left"] else "The file that your run continued from is gone afterwards, or holds something else."


LEFT_A_FILE = "A run that is not asked to stop leaves a file behind."


def repeated_mistake(trial: RunTrial, seen: Observation) -> str:
    """The slug of why a run makes updates again, by how many each call makes; empty if they tell nothing."""
    due = trial.config.updates
    if seen.facts["steps 2"] == due - trial.stops[0]:
        return "resume-second-stop-not-saved"
    again = seen.facts["steps 2"] == due or seen.facts["steps 1"] == trial.stops[1]
    return "resume-starts-over" if again else ""


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
            words = relation(found[name], wanted[name], "Each of these numbers", NUMBERS) if told else ""
            return f"{message}{words and f' {words}'}"
    return ""


def _count_message(seen: Observation, due: Observation) -> str:
    """What is wrong with a history without a look at its numbers; empty if there is one and it has the right length."""
    found, wanted = history_of(seen), history_due(due)
    if found is None:
        kind = seen.facts.get("type", "History")
        if kind != "History":
            return f"Your function returned {str(kind)[:40]} where the run's History was due."
        return "The history does not hold plain numbers for every update."
    if len(found["losses"]) == len(wanted["losses"]):
        return ""
    said = _updates_told(found, wanted)
    return said[0].upper() + said[1:]


def _first_difference(found: History | None, wanted: History) -> str:
    """The first update of which a history of equal length says something else, as another sentence; empty if there is none."""
    for k in range(len(wanted["rates"]) if found else 0):
        for what in ("rates", "losses"):
            if found and not same(found[what][k : k + 1], wanted[what][k : k + 1]):
                name = {"rates": "rate", "losses": "loss"}[what]
                numbers = f"{found[what][k]:.4g}, where {wanted[what][k]:.4g} is due"
                return f" In its history, the {name} of update {k + 1} is {numbers}."
    return ""


def _updates_told(found: History, wanted: History) -> str:
    return f"the history covers {len(found['losses'])} updates where there should be {len(wanted['losses'])}."


def same(found: Sequence[float], due: Sequence[float], tolerance: float = NUMBERS) -> bool:
    """Whether two lists of numbers agree up to rounding."""
    return len(found) == len(due) and all(
        math.isfinite(f) and math.isclose(f, d, rel_tol=tolerance, abs_tol=0.0) for f, d in zip(found, due, strict=True)
    )


def report_mistakes(
    trials: Trials,
    observations: Mapping[str, Observation],
    due: Mapping[str, Observation],
    right: set[str],
    known: Sequence[str] = (),
) -> tuple[str, ...]:
    """The mistakes in what is reported, list by list, as slugs.

    Args:
        trials: by name.
        observations: what was seen of the student's function on each.
        due: what is seen of a right one.
        right: the trials on which the weights are right.
        known: mistakes in the weights; a loss that follows from one of them needs no name.
    """
    slugs: list[str] = []
    for name in [name for name in ("uneven", "even", "clip", "schedule") if name in trials]:
        found, wanted, config = history_of(observations[name]), history_due(due[name]), trials[name].config
        if found is None or len(found["losses"]) != len(wanted["losses"]):
            continue
        if not same(found["tokens"], wanted["tokens"]):
            slugs += _first(_tokens(config), found["tokens"][:1])
        if not same(found["losses"][:1], wanted["losses"][:1]):
            after = due[name].tensors["rows"][0] if name in right else None
            slugs += _first(_losses(config, known, after), found["losses"][:1])
        if name in right and not same(found["norms"], wanted["norms"]) and _reordered(found, wanted):
            slugs += ["entries-in-another-order"]
            continue
        clipped = [min(norm, config.max_norm) for norm in wanted["norms"]]
        if name in right and not same(clipped, wanted["norms"], 1e-3) and same(found["norms"], clipped, 1e-4):
            slugs += ["norm-after-clip"]
        if name in right and not same(found["rates"], wanted["rates"]):
            ahead = [config.lr * config.rate(k + 1) for k in range(len(found["rates"]))]
            slugs += ["rate-of-next"] if same(found["rates"], ahead) else []
    return tuple(slug for slug in dict.fromkeys(slugs) if slug not in known)


def _reordered(found: History, wanted: History) -> bool:
    """Whether the numbers of every update are right, in another order."""
    both = ([sorted(update) for update in zip(*lists.values(), strict=True)] for lists in (found, wanted))
    return all(same(one, other) for one, other in zip(*both, strict=True))


def _first(candidates: Iterator[tuple[str, float]], found: Sequence[float]) -> list[str]:
    return next(([slug] for slug, value in candidates if same(found, [value])), [])


def _tokens(config: Config) -> Iterator[tuple[str, float]]:
    window = _first_window(config)
    yield "tokens-with-padding", sum(y.numel() for _, y in window)
    yield "tokens-of-last", tokens_in(window[-1][1])


def _losses(config: Config, known: Sequence[str], after: Tensor | None) -> Iterator[tuple[str, float]]:
    """What may be reported for the first window, at the weights before training, or at those after the first update."""
    window, model = _first_window(config), config.build_model()
    tokens, n = [tokens_in(y) for _, y in window], len(window)
    losses, mean = _losses_of(model, window)
    for variant, (slug,) in each_alone(MISTAKES, (slug for slug in known if slug in MISTAKES)):
        yield slug, sum(w * loss for w, loss in zip(weigh(variant.weight, window, n), losses, strict=True))
    yield "loss-of-last", losses[-1]
    yield "loss-mean-of-means", sum(losses) / n
    yield "loss-scaled-in-log", mean / n
    yield "loss-share-of-last", losses[-1] * tokens[-1] / sum(tokens)
    yield "loss-summed", sum(losses)
    yield "loss-summed", mean * sum(tokens)
    if after is not None:
        vector_to_parameters(after.to(config.device), model.parameters())
        yield "loss-after-update", _losses_of(model, window)[1]


@torch.no_grad()
def _losses_of(model: nn.Module, window: Window) -> tuple[list[float], float]:
    """The losses of the micro-batches, and their mean over the tokens of the window."""
    losses, tokens = [token_loss(model(x), y).item() for x, y in window], [tokens_in(y) for _, y in window]
    return losses, sum(loss * t for loss, t in zip(losses, tokens, strict=True)) / sum(tokens)


def _first_window(config: Config) -> Window:
    return next(windows(config.micro_batches(0), config.accumulation_steps))
