"""Unit 08, unequal micro-batches: why is the mean of means wrong?"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_08_unequal_micro_batches import mistakes  # noqa: F401 - enters them in the catalogue
from autograder.exercises.unit_08_unequal_micro_batches.judging.denominators import (
    TOLERANCE,
    WRONG_DENOMINATORS,
    denominator,
    denominator_message,
)
from autograder.exercises.unit_08_unequal_micro_batches.judging.diagnosis import (
    diagnose_tokens,
    ignores_only_usual,
    loss_slugs,
)
from autograder.exercises.unit_08_unequal_micro_batches.judging.messages import (
    empty_windows_message,
    is_one_big_batch,
    losses_message,
    mode_and_memory_message,
    movements_message,
    parameters_message,
)
from autograder.exercises.unit_08_unequal_micro_batches.judging.references import is_nan_somewhere, trains_like
from autograder.exercises.unit_08_unequal_micro_batches.observing import TokenLoopTrial
from autograder.judging.calls import judge_calls
from autograder.judging.token_words import RENAMED, in_tokens
from autograder.observing.calls import CallTrial
from gradaccum.problems import best_dtype
from gradaccum.problems.tokens import IGNORE_INDEX, TokenProblem

UNIT = "08_unequal_micro_batches"

MIN_TOKENS = 4
"""Tokens of a micro-batch that is not empty: with fewer, two might be the same by chance (1 in 100,000 pairs of 4)."""

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

    def trials(self, seed: int, device: str) -> dict[str, TokenLoopTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        basics: dict[str, Any] = {"accumulation_steps": n, "device": device, "dtype": best_dtype(device), "width": 8}

        def trial(offset: int, *epochs: Lengths, frozen: bool = False, **options: Any) -> TokenLoopTrial:
            return TokenLoopTrial(TokenProblem(seed=seed + offset, lengths=epochs, **basics | options), frozen=frozen)

        full, left = unequal_lengths(chance, 2 * n, n), unequal_lengths(chance, n - 1, n)
        empty = list(unequal_lengths(chance, 2 * n, n))
        for place in (chance.randrange(n), n + chance.randrange(n)):
            empty[place] = (0,) * chance.randint(1, 2)
        bare = unequal_lengths(chance, n, n) + ((0, 0), (0,), (0,), (0, 0))[:n] + unequal_lengths(chance, n - 1, n)
        every_kind = (
            unequal_lengths(chance, n, n) + left,
            unequal_lengths(chance, probe_length(2, n, n - 1), n),
            unequal_lengths(chance, n - 1, n),
        )
        # As all sequences have the same length, they may be counted instead of tokens; coupled, the parameters show which of
        # them went through the model together.
        deep: dict[str, Any] = {"accumulation_steps": 24, "width": 8, "depth": 12, "coupled": True, "weigh_by": "sequences"}
        return {
            "tokens": trial(1, full, unequal_lengths(chance, n, n), gated=True, extras=True),
            "memory": replace(trial(2, ((4,) * 16,) * 24, **deep), meter=True),
            "leftover": trial(3, unequal_lengths(chance, 2 * n, n) + left, left, stale=True, one_shot=True),
            "empty": trial(4, tuple(empty), one_shot=True),
            "bare": trial(5, bare),
            "ignore": trial(6, unequal_lengths(chance, 2 * n, n), unequal_lengths(chance, n, n), ignore_index=0, frozen=True),
            "losses": trial(7, unequal_lengths(chance, n, n) + left, unequal_lengths(chance, n, n), frozen=True),
            "probe": trial(8, *every_kind, stale=True, gated=True, frozen=True),
        }

    def judge(self, trials: Mapping[str, TokenLoopTrial], observations: Mapping[str, Observation]) -> Verdict:
        moves = ("tokens", "leftover", "empty", "bare")
        results = {name: parameters_message(trials[name], observations[name]) for name in moves}
        results["ignore"] = movements_message(trials["ignore"], observations["ignore"])
        results["losses"] = losses_message(trials["losses"], observations["losses"])
        results["tokens"] = results["tokens"] or mode_and_memory_message(trials, observations)
        for name in ("empty", "bare"):
            reports = not results["losses"]
            results[name] = results[name] or empty_windows_message(trials[name], observations[name], reports)
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if not any(results.values()):
            return self.verdict(results, failure=failure)
        found = diagnose_tokens(trials["probe"], observations["probe"])
        slugs = (*found.slugs, *_other_slugs(trials, observations, results, found.slugs))
        if "retained-graph" in slugs:
            slugs = tuple(slug for slug in slugs if slug != "one-big-batch")
        shown = {"expected": found.expected, "found": found.found} if found.slugs or found.remark else {}
        named = dict.fromkeys(RENAMED.get(slug, slug) for slug in slugs)
        return self.verdict(results, mistakes=tuple(map(in_tokens, named)), failure=failure, remark=found.remark, **shown)


def _other_slugs(
    trials: Mapping[str, TokenLoopTrial],
    observations: Mapping[str, Observation],
    results: Mapping[str, str],
    named: tuple[str, ...],
) -> Iterator[str]:
    """Mistakes that the probe does not show, given those that are ``named`` because of it."""
    if is_one_big_batch(trials["memory"], observations["memory"]):
        yield "one-big-batch"
    padding, ignore = "padding-counted" in named, (trials["ignore"], observations["ignore"])
    if results["ignore"] and not ignore[1].failure and ignores_only_usual(*ignore, counts_padding=padding):
        yield "ignore-index-fixed"
    nan = [name for name in ("empty", "bare") if results[name] and is_nan_somewhere(observations[name])]
    if nan:
        yield "empty-is-nan" if "empty" in nan else "empty-window-is-nan"
    if results["empty"] and "empty" not in nan and trains_like(trials["empty"], observations["empty"], "empty-skipped"):
        yield "empty-skipped"
    if results["losses"] and not observations["losses"].failure:
        yield from loss_slugs(trials["losses"], observations["losses"])


def unequal_lengths(chance: random.Random, count: int, steps: int) -> Lengths:
    """Micro-batches of one to three sequences each.

    No two micro-batches of a window hold the same number of tokens, and the last one does not hold their mean.
    """
    micro_batches: list[tuple[int, ...]] = []
    while len(micro_batches) < count:
        width = min(steps, count - len(micro_batches))
        window = [tuple(chance.randint(1, 6) for _ in range(chance.randint(1, 3))) for _ in range(width)]
        counts, kinds = [sum(sequences) for sequences in window], {len(sequences) for sequences in window}
        distinct = len(set(counts)) == width and (width == 1 or counts[-1] * width != sum(counts))
        if distinct and min(counts) >= MIN_TOKENS and len(kinds) >= min(2, width):
            micro_batches += window
    return tuple(micro_batches)


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

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        generator = torch.Generator().manual_seed(seed)

        def call(
            classes: int, index: int = IGNORE_INDEX, weighted: bool = True, ignored: float = 0, ignored_parts: int = 1
        ) -> CallTrial:
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

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        part_of = lambda name: name.split()[0]  # noqa: E731
        return judge_calls(
            *(self, trials, observations, part_of, denominator, WRONG_DENOMINATORS, denominator_message), tolerance=TOLERANCE
        )


def _targets(generator: torch.Generator, chance: random.Random, classes: int, index: int, ignored: float) -> Tensor:
    """Targets of a micro-batch; each is ignored with the probability ``ignored``."""
    shape = (chance.randint(1, 3), chance.randint(2, 7))
    targets = torch.randint(0 if index != 0 else 1, classes, shape, generator=generator)
    return targets.masked_fill(torch.rand(shape, generator=generator) < ignored, index)
