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
from autograder.diagnosing.token_diagnosis import (
    diagnose_tokens,
    ignores_only_usual,
    leaves_out_zeros,
    loss_slugs,
)
from autograder.exercises.unit_08_unequal_micro_batches.judging.denominators import (
    DENOMINATORS_IN_WORDS,
    TOLERANCE,
    WRONG_DENOMINATORS,
    denominator,
    denominator_message,
)
from autograder.exercises.unit_08_unequal_micro_batches.judging.messages import (
    clipped_message,
    empty_windows_message,
    groups_message,
    ignoring_message,
    is_one_big_batch,
    live_losses_message,
    losses_message,
    mode_and_memory_message,
    movements_message,
    skipped_message,
    stopped_message,
)
from autograder.judging.calls import judge_calls
from autograder.judging.large_batches import AFTER_INFINITY, for_one, updates_in_epochs, uses_up_streams
from autograder.judging.left_behind import DATA, kept_message
from autograder.judging.token_loops import is_nan_somewhere, parameters_message, trains_like
from autograder.judging.token_updates import first_update_message
from autograder.judging.token_words import RENAMED, in_tokens
from autograder.observing.calls import CallTrial
from autograder.observing.token_loops import TokenLoopTrial
from gradaccum.problems import best_dtype
from gradaccum.problems.tokens import IGNORE_INDEX, TokenProblem

UNIT = "08_unequal_micro_batches"

MIN_TOKENS = 4
"""Tokens of a micro-batch that is not empty: with fewer, two might be the same by chance (1 in 100,000 pairs of 4)."""

MANY = 70_000
"""Targets of one micro-batch, more than 16 bits count."""

LOUD = 100.0
"""What makes gradients of one trial so long that every limit at which one would clip them is far below."""

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
        few = [(2,), *[(0,)] * (n - 1)]  # fewer tokens than micro-batches
        empty += chance.sample(few, n)
        bare = unequal_lengths(chance, n, n) + ((0, 0), (0,), (0,), (0, 0))[:n] + unequal_lengths(chance, n - 1, n)
        every_kind = (
            unequal_lengths(chance, n, n) + left,
            unequal_lengths(chance, probe_length(2, n, n - 1), n),
            unequal_lengths(chance, n - 1, n),
        )
        # As all sequences have the same length, they may be counted instead of tokens; coupled, the parameters show which of
        # them went through the model together.
        metered: dict[str, Any] = {"accumulation_steps": 24, "width": 12, "depth": 3, "coupled": True, "weigh_by": "sequences"}
        return {
            "tokens": trial(
                1, full, unequal_lengths(chance, n, n), full[:n], gated=True, extras=True, zero_counts=True, grouped=True
            ),
            "no accumulation": trial(9, ((1,), (3, 2), (1,), (2,)), accumulation_steps=1, loud=LOUD, lr=0.1 / LOUD**2),
            "memory": replace(trial(2, ((4,) * 16,) * 24, **metered), meter=True),
            "leftover": trial(
                3,
                unequal_lengths(chance, 2 * n, n) + left,
                left,
                full[: n + 1],
                stale=True,
                one_shot=True,
                prompt=2,
                grouped=True,
            ),
            "empty": trial(4, tuple(empty), one_shot=True),
            "bare": trial(5, bare, (*unequal_lengths(chance, n, n), (0,), (0, 0))),
            "bare one": trial(11, ((2, 3), (0, 0), (4,)), accumulation_steps=1),
            "overflowed": trial(12, full[:n], overflowed=True),
            "ignore": trial(6, unequal_lengths(chance, 2 * n, n), unequal_lengths(chance, n, n), ignore_index=0, frozen=True),
            "ignore another": trial(10, unequal_lengths(chance, 2 * n, n), ignore_index=7, zero_counts=True, frozen=True),
            "losses": trial(7, unequal_lengths(chance, n, n) + left, unequal_lengths(chance, n, n), gated=True, frozen=True),
            "probe": trial(8, *every_kind, stale=True, gated=True, frozen=True),
        }

    def judge(self, trials: Mapping[str, TokenLoopTrial], observations: Mapping[str, Observation]) -> Verdict:
        moves = ("tokens", "leftover", "empty", "bare")
        results = {name: parameters_message(trials[name], observations[name]) for name in moves}
        single = trials["no accumulation"], observations["no accumulation"]
        alone = "" if results["tokens"] else parameters_message(*single)
        alone = alone and f"With N = 1, where gradients are much longer here: {alone}"
        results["tokens"] = results["tokens"] or alone
        one = parameters_message(trials["bare one"], observations["bare one"])
        if results["bare"] and not results["leftover"]:  # a loop without its leftover window would seem to stop there, too
            results["bare"] = stopped_message(trials["bare"], observations["bare"]) or results["bare"]
        results["bare"] = results["bare"] or one
        results["tokens"] = groups_message(trials["tokens"], observations["tokens"]) or results["tokens"]
        for name in ("empty", "bare"):
            wrong = "" if results["tokens"] else parameters_message(trials[name], observations[name])
            if wrong and results[name] == wrong:
                results[name] += first_update_message(trials[name], observations[name])
        infinite = trials["overflowed"], observations["overflowed"]
        if not any(results[name] for name in moves) and parameters_message(*infinite):
            results["leftover"] = infinite[1].failure.message if infinite[1].failure else AFTER_INFINITY
        ignoring = [(trials[name], observations[name]) for name in ("ignore", "ignore another")]
        results["ignore"] = next(filter(None, (movements_message(*one) for one in ignoring)), "")
        if not any(results[name] for name in moves):
            results["ignore"] = ignoring_message(*ignoring) or results["ignore"]
        results["ignore"] = results["ignore"] or kept_message(observations["ignore"], DATA)
        results["leftover"] = results["leftover"] or kept_message(observations["leftover"], DATA)
        results["losses"] = losses_message(trials["losses"], observations["losses"])
        if not (results["losses"] or results["leftover"]):
            results["losses"] = live_losses_message(trials["leftover"], observations["leftover"])
        computed = not any(results.values())
        if results["tokens"] and not observations["tokens"].failure:
            results["tokens"] = kept_message(observations["tokens"]) or results["tokens"]
        results["tokens"] = results["tokens"] or mode_and_memory_message(trials, observations)
        for name in ("empty", "bare", "bare one"):
            reports, part, seen = not results["losses"], name.split()[0], observations[name]
            results[part] = results[part] or empty_windows_message(trials[name], seen, reports)
        if not (results["losses"] or results["empty"]):  # where the weights are right, and no loss is NaN or missing
            said = live_losses_message(trials["empty"], observations["empty"])
            results["losses"] = said and f"With micro-batches without a single token: {said}"
        if not (results["losses"] or results["ignore"]):
            said = losses_message(*ignoring[0])
            results["losses"] = said and f"Where ignore_index is {ignoring[0][0].problem.ignore_index}: {said}"
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if not any(results.values()):
            return self.verdict(results, failure=failure)
        if computed:  # what is wrong is not a matter of gradients
            shown_otherwise = dict.fromkeys(_other_slugs(trials, observations, results, ()))
            return self.verdict(results, mistakes=tuple(map(in_tokens, shown_otherwise)), failure=failure)
        found = diagnose_tokens(trials["probe"], observations["probe"])
        others = _other_slugs(trials, observations, results, found.slugs)
        if results["empty"] and not results["leftover"]:
            results["empty"] += skipped_message(trials["empty"], observations["empty"])
        slugs = (*found.slugs, *(slug for slug in others if not REPORTS_THE_SAME.get(slug, set()) & set(found.slugs)))
        if uses_up_streams({name: trial.problem for name, trial in trials.items()}, observations):
            slugs += ("stream-used-up",)
        if "retained-graph" in slugs:
            slugs = tuple(slug for slug in slugs if slug != "one-big-batch")
        remark = found.remark or ("" if slugs else clipped_message(observations))
        tokens = trials["tokens"], observations["tokens"]
        if results["tokens"] and results["tokens"] == parameters_message(*tokens) and not (slugs or remark):
            results["tokens"] += first_update_message(*tokens)
        elif alone and results["tokens"] == alone and not (slugs or remark):
            remark = for_one(updates_in_epochs(*single))
            results["tokens"] += "" if remark else first_update_message(*single)
        shown = {"expected": found.expected, "found": found.found} if found.slugs or found.remark else {}
        named = dict.fromkeys(RENAMED.get(slug, slug) for slug in slugs)
        return self.verdict(results, mistakes=tuple(map(in_tokens, named)), failure=failure, remark=remark, **shown)


REPORTS_THE_SAME = {
    "first-class-left-out": {"targets-shifted"},
    "loss-mean-of-means": {"mean-of-means"},
    "loss-scaled-in-log": {"tail-scale", "double-scale"},
    "loss-summed": {"no-scale", "sum-reduction"},
}
"""Mistakes that need no name of their own if the updates show one of these."""


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
    another = trials["ignore another"], observations["ignore another"]
    if movements_message(*another) and not ignore[1].failure and ignores_only_usual(*ignore, counts_padding=padding):
        yield "ignore-index-fixed"
    if results["ignore"] and not another[1].failure and leaves_out_zeros(*another):
        yield "first-class-left-out"
    names = "empty", "bare", "bare one"
    nan = [name for name in names if results[name.split()[0]] and is_nan_somewhere(observations[name])]
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
            classes: int,
            index: int = IGNORE_INDEX,
            weighted: bool = True,
            ignored: float = 0,
            ignored_parts: int = 1,
            unit: float = 1,
            equal: bool = False,
        ) -> CallTrial:
            weight = (torch.rand(classes, generator=generator, dtype=torch.float64) + 0.1) * unit
            weight = weight[:1].expand(classes) if equal else weight
            weight = weight.to(device=device, dtype=getattr(torch, best_dtype(device)))
            # In the first micro-batches nothing counts, and in the third, if it is not one of them, everything does.
            shares = [1 if k < ignored_parts and ignored else 0 if k == 2 else ignored / 2 for k in range(chance.randint(3, 5))]
            targets = [_targets(generator, chance, classes, index, share, k).to(device) for k, share in enumerate(shares)]
            keywords: dict[str, Any] = {} if index == IGNORE_INDEX else {"ignore_index": index}
            return CallTrial((targets,), keywords | ({"weight": weight} if weighted else {}))

        return {
            "count": call(5, weighted=False),
            "count one": CallTrial(([torch.zeros(1, dtype=torch.long, device=device)],)),
            "count many": CallTrial(([torch.arange(MANY, device=device) % 3],)),
            "count ignored": call(5, weighted=False, ignored=0.5),
            "count class": call(5, index=2, weighted=False, ignored=0.5),
            "weights": call(6),
            "weights equal": call(3, equal=True),
            "weights small": call(4, unit=1e-3),
            "ignored": call(5, ignored=0.6),
            "ignored last": call(4, index=-1, ignored=0.6),
            "ignored class": call(5, index=0, ignored=0.4),
            "ignored in between": call(5, index=2, ignored=0.4),
            "ignored all": call(4, ignored=0.5, ignored_parts=9),
        }

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        part_of = lambda name: name.split()[0]  # noqa: E731
        return judge_calls(
            *(self, trials, observations, part_of, denominator, WRONG_DENOMINATORS, denominator_message),
            tolerance=TOLERANCE,
            described=DENOMINATORS_IN_WORDS,
        )


def _targets(generator: torch.Generator, chance: random.Random, classes: int, index: int, ignored: float, place: int) -> Tensor:
    """Targets of a micro-batch, in one to three dimensions; each is ignored with the probability ``ignored``.

    Unless all are ignored, the first and the last target are the first and the last class.
    """
    shape = [(), (chance.randint(1, 3),), (2, 1)][place % 3] + (chance.randint(3, 7),)
    kept = torch.tensor([k for k in range(classes) if k != index])
    targets = kept[torch.randint(len(kept), shape, generator=generator)]
    targets = targets.masked_fill(torch.rand(shape, generator=generator) < ignored, index)
    if ignored < 1:
        targets.view(-1)[0], targets.view(-1)[-1] = kept[0], kept[-1]
    return targets
