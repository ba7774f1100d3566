"""Unit 08, unequal micro-batches: why is the mean of means wrong?"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, trial_random
from autograder.contract.verdict import Part
from autograder.exercises.unit_08_unequal_micro_batches import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.exercises.unit_08_unequal_micro_batches.judging.token_loops import (
    diagnose_tokens,
    ignores_only_usual,
    is_nan_somewhere,
    loss_slugs,
    losses_message,
    movements_message,
    parameters_message,
    skips_empty,
)
from autograder.judging.calls import in_words, judge_calls
from autograder.judging.loops import holds_several_graphs, is_cut_finely, is_one_forward, window_gradient
from autograder.judging.token_words import RENAMED, in_tokens
from autograder.observing.calls import CallTrial, Plain
from autograder.observing.loops import LoopTrial
from gradaccum.problems import best_dtype
from gradaccum.problems.tokens import IGNORE_INDEX, TokenProblem

UNIT = "08_unequal_micro_batches"

FEWEST = 4
"""Tokens of a micro-batch, where it has any: with fewer, two might be the same by chance (1 in 100,000 pairs of 4)."""

Lengths = tuple[tuple[int, ...], ...]
"""For each micro-batch the number of tokens of each of its sequences."""


class TrainEpochTokens(Exercise):
    """``train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100) -> list[float]``."""

    id = "train_epoch_tokens"
    section = "Explore: token-weighted loss"
    unit = UNIT
    parts = (
        Part("tokens", "micro-batches with unequal numbers of tokens, one graph at a time", 1.5),
        Part("leftover", "leftover windows of a one-shot stream, gradients not clean at the start", 1),
        Part("empty", "micro-batches without a single token", 1),
        Part("bare", "a whole window without a single token", 0.5),
        Part("ignore", "another ignore index", 1),
        Part("losses", "the returned losses", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        basics = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}

        def trial(offset, *epochs, frozen=False, **options):
            return LoopTrial(TokenProblem(seed=seed + offset, lengths=epochs, **basics | options), frozen=frozen)

        full, left = unequal(chance, 2 * n, n), unequal(chance, n - 1, n)
        empty = list(unequal(chance, 2 * n, n))
        for place in (chance.randrange(n), n + chance.randrange(n)):
            empty[place] = (0,) * chance.randint(1, 2)
        bare = unequal(chance, n, n) + ((0, 0), (0,), (0,), (0, 0))[:n] + unequal(chance, n - 1, n)
        every_kind = (unequal(chance, n, n) + left, unequal(chance, probe_length(2, n, n - 1), n), unequal(chance, n - 1, n))
        # Sequences of one length may be counted instead of tokens, and say which of them went through the model together.
        deep = {"accumulation_steps": 24, "width": 8, "depth": 12, "coupled": True, "weigh_by": "sequences"}
        return {
            "tokens": trial(1, full, unequal(chance, n, n), gated=True, extras=True),
            "memory": replace(trial(2, ((4,) * 16,) * 24, **deep), meter=True),
            "leftover": trial(3, unequal(chance, 2 * n, n) + left, left, stale=True, one_shot=True),
            "empty": trial(4, tuple(empty), one_shot=True),
            "bare": trial(5, bare),
            "ignore": trial(6, unequal(chance, 2 * n, n), unequal(chance, n, n), ignore_index=0, frozen=True),
            "losses": trial(7, unequal(chance, n, n) + left, unequal(chance, n, n), frozen=True),
            "probe": trial(8, *every_kind, stale=True, gated=True, frozen=True),
        }

    def judge(self, trials, observations):
        moves = ("tokens", "leftover", "empty", "bare")
        results = {name: parameters_message(trials[name], observations[name]) for name in moves}
        results["ignore"] = movements_message(trials["ignore"], observations["ignore"])
        results["losses"] = losses_message(trials["losses"], observations["losses"])
        results["tokens"] = results["tokens"] or _mode_and_memory_message(trials, observations)
        for name in ("empty", "bare"):
            reports = not results["losses"]
            results[name] = results[name] or _report_message(trials[name], observations[name], reports)
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if not any(results.values()):
            return self.verdict(results, failure=failure)
        found = diagnose_tokens(trials["probe"], observations["probe"])
        slugs = (*found.slugs, *self._beside(trials, observations, results, found.slugs))
        if "retained-graph" in slugs:
            slugs = tuple(slug for slug in slugs if slug != "one-big-batch")
        shown = {"expected": found.expected, "found": found.found} if found.slugs or found.remark else {}
        named = dict.fromkeys(RENAMED.get(slug, slug) for slug in slugs)
        return self.verdict(results, mistakes=tuple(map(in_tokens, named)), failure=failure, remark=found.remark, **shown)

    def _beside(self, trials, observations, results, named) -> Iterator[str]:
        """Mistakes that the probe does not show."""
        if _is_one_big_batch(trials["memory"], observations["memory"]):
            yield "one-big-batch"
        padding, ignore = "padding-counted" in named, (trials["ignore"], observations["ignore"])
        if results["ignore"] and not ignore[1].failure and ignores_only_usual(*ignore, counts_padding=padding):
            yield "ignore-index-fixed"
        nan = [name for name in ("empty", "bare") if results[name] and is_nan_somewhere(observations[name])]
        if nan:
            yield "empty-is-nan" if "empty" in nan else "empty-window-is-nan"
        if results["empty"] and "empty" not in nan and skips_empty(trials["empty"], observations["empty"]):
            yield "empty-skipped"
        if results["losses"] and not observations["losses"].failure:
            yield from loss_slugs(trials["losses"], observations["losses"])


def unequal(chance: random.Random, count: int, steps: int) -> Lengths:
    """Micro-batches of one to three sequences; in a window no two hold equally many tokens, and the last not their mean."""
    micro_batches: list[tuple[int, ...]] = []
    while len(micro_batches) < count:
        width = min(steps, count - len(micro_batches))
        window = [tuple(chance.randint(1, 6) for _ in range(chance.randint(1, 3))) for _ in range(width)]
        counts, kinds = [sum(sequences) for sequences in window], {len(sequences) for sequences in window}
        apart = len(set(counts)) == width and (width == 1 or counts[-1] * width != sum(counts))
        if apart and min(counts) >= FEWEST and len(kinds) >= min(2, width):
            micro_batches += window
    return tuple(micro_batches)


def _mode_and_memory_message(trials, observations) -> str:
    trial, seen = trials["memory"], observations["memory"]
    if not observations["tokens"].facts["training_after"]:
        return "Your function left the model in evaluation mode."
    if seen.failure:
        return seen.failure.message
    if _is_one_big_batch(trial, seen):
        return "The graphs of several micro-batches are in memory at once."
    fine = is_cut_finely(trial.problem, window_gradient(trial.problem, seen))
    return "" if fine else "A window of many micro-batches is not trained like their mean over tokens."


def _is_one_big_batch(trial: LoopTrial, seen: Observation) -> bool:
    """Whether a window costs the memory of a large batch: by what was metered, and by numbers that nobody can forge."""
    if seen.failure:
        return False
    return holds_several_graphs(trial, seen) or is_one_forward(trial.problem, window_gradient(trial.problem, seen))


def _report_message(trial: LoopTrial, seen: Observation, reports: bool) -> str:
    """What is wrong with the losses where there are micro-batches without tokens; that they are right counts elsewhere.

    A loop that ``reports`` a loss for each window elsewhere has to do so here.
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


class WindowDenominator(Exercise):
    """``window_denominator(targets, weight=None, ignore_index=-100) -> float``."""

    id = "window_denominator"
    section = "Equal sizes, and still unequal"
    unit = UNIT
    parts = (
        Part("count", "without weights", 1),
        Part("weights", "with a weight for each class", 1.5),
        Part("ignored", "with weights, where some targets are ignored", 1.5),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        generator = torch.Generator().manual_seed(seed)

        def call(classes, index=IGNORE_INDEX, weighted=True, ignored=0, ignored_parts=1):
            weight = torch.rand(classes, generator=generator, dtype=torch.float64) + 0.1
            weight = weight.to(device=device, dtype=getattr(torch, best_dtype(device)))
            targets = [
                _targets(generator, chance, classes, index, 1 if k < ignored_parts and ignored else ignored / 2).to(device)
                for k in range(chance.randint(3, 5))
            ]
            keywords = {} if index == IGNORE_INDEX else {"ignore_index": index}
            return CallTrial((targets, *([weight] if weighted else [])), keywords)

        return {
            "count": call(5, weighted=False),
            "count ignored": call(5, weighted=False, ignored=0.5),
            "weights": call(6),
            "weights few": call(3),
            "ignored": call(5, ignored=0.6),
            "ignored last": call(4, index=-1, ignored=0.6),
            "ignored class": call(5, index=0, ignored=0.4),
            "ignored all": call(4, ignored=0.5, ignored_parts=9),
        }

    def judge(self, trials, observations):
        wrong = {
            "weights-left-out": lambda targets, weight=None, **index: denominator(targets, None, **index),
            "counts-ignored": (_with_ignored_counted, _with_ignored_as_first),
            "weights-of-classes": _weights_of_classes,
            "counts-micro-batches": lambda targets, weight=None, **index: len(targets),
            "mean-of-denominators": lambda targets, weight=None, **index: denominator(targets, weight, **index) / len(targets),
            "ignore-index-fixed": lambda targets, weight=None, **index: denominator(targets, weight),
        }

        def message(trial: CallTrial, found: Plain) -> str:
            due = in_words(denominator(*trial.arguments, **trial.keywords))
            return f"cross_entropy divides the sum of one of these windows by {due}; your function returned {in_words(found)}."

        # 1e-6: weights may be added up in float32; wrong denominators differ by more than 1 %.
        return judge_calls(
            self, trials, observations, lambda name: name.split()[0], denominator, wrong, message, tolerance=1e-6
        )


def _targets(generator: torch.Generator, chance: random.Random, classes: int, index: int, ignored: float) -> Tensor:
    """Targets of a micro-batch, a share of which is ignored."""
    shape = (chance.randint(1, 3), chance.randint(2, 7))
    targets = torch.randint(0 if index != 0 else 1, classes, shape, generator=generator)
    return targets.masked_fill(torch.rand(shape, generator=generator) < ignored, index)


def denominator(targets: list[Tensor], weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """What ``cross_entropy`` divides by when it averages over all of these targets."""
    every = torch.cat([part.flatten() for part in targets])
    every = every[every != ignore_index]
    return float(len(every) if weight is None else weight[every].sum())


def _with_ignored_counted(targets, weight=None, ignore_index=IGNORE_INDEX) -> float:
    """Adds one, or an average weight, for every target that is ignored."""
    every = torch.cat([part.flatten() for part in targets])
    ignored = int((every == ignore_index).sum())
    return denominator(targets, weight, ignore_index) + ignored


def _with_ignored_as_first(targets, weight=None, ignore_index=IGNORE_INDEX) -> float:
    """Takes targets that are ignored for the first class."""
    every = torch.cat([part.flatten() for part in targets])
    every = every.masked_fill(every == ignore_index, 0)
    return float(len(every) if weight is None else weight[every].sum())


def _weights_of_classes(targets, weight=None, ignore_index=IGNORE_INDEX) -> float:
    """Adds up the weights of the classes, not of the targets."""
    return denominator(targets, None, ignore_index) if weight is None else float(weight.sum())
