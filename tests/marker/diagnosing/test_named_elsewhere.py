"""Mistakes named in gradients of units 03, 05, 08, 10 and 12 reproduce their numbers, as those of plain loops do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from replays import reproduces
from samples import SAMPLES, mark_once, observe_once, slugs

from autograder.contract.exercise import Exercise
from autograder.diagnosing.loop_diagnosis import diagnose
from autograder.diagnosing.token_diagnosis import OTHER_COUNTS, diagnose_tokens
from autograder.exercises import all_exercises
from autograder.exercises.unit_03_accumulate.judging import name_weights
from autograder.exercises.unit_10_distributed.judging.diagnosis import name_rank_mistakes
from autograder.exercises.unit_10_distributed.judging.references import by_rank, rank_fingerprint, ranks_seen
from autograder.exercises.unit_12_capstone.judging.diagnosis import CLIPS, SCALED, SCHEDULES, window_mistakes
from autograder.exercises.unit_12_capstone.judging.references import weights_like, windows_due
from autograder.marking.in_process import trials_of
from gradaccum.capstone.variants import MISTAKES, RIGHT
from gradaccum.diagnosis.loop_variants import loop_variants, play, stale_loop_variants
from gradaccum.diagnosis.search import merged
from gradaccum.fingerprint import micro_batch_gradients
from gradaccum.problems import MicroBatch

pytestmark = pytest.mark.slow

SAME = 1e-4


def samples_of(name: str):
    """The samples of an exercise. The parameter begins with the unit, in whose process they have been observed already."""
    exercise, samples = all_exercises()[name], [sample for sample in SAMPLES if sample.exercise == name]
    return pytest.mark.parametrize(("exercise", "samples"), [pytest.param(exercise, samples, id=f"{exercise.unit}-{name}")])


def probe_of(exercise: Exercise) -> Any:
    return trials_of(exercise, 0)["probe"]


@samples_of("train_with_schedule")
def test_every_mistake_named_in_a_loop_with_a_schedule_reproduces_its_gradients(exercise, samples):
    trial, unproven, proven = probe_of(exercise), [], 0
    for sample in samples:
        seen = observe_once(sample)["probe"]
        if seen.failure:
            continue
        gradients = seen.tensors["gradients"]
        seen = replace(seen, tensors=seen.tensors | {"movements": gradients * trial.loop.problem.lr})
        named = set(diagnose(trial.loop, seen).slugs)
        if named and not reproduces(named, trial.loop, seen):
            unproven.append((sample.path.stem, sorted(named)))
        proven += bool(named)
    assert unproven == []
    assert proven >= 10


OwnLoop = Callable[[torch.nn.Module, Any, list[MicroBatch]], None]


def loop_with(weight: Callable[[int, list[MicroBatch]], float]) -> OwnLoop:
    """An ``accumulate_gradient`` that multiplies the loss of micro-batch k by a weight."""

    def loop(model: torch.nn.Module, loss_fn: Any, batches: list[MicroBatch]) -> None:
        model.zero_grad()
        for k, (x, y) in enumerate(batches):
            (loss_fn(model(x), y) * weight(k, batches)).backward()

    return loop


def samples_in(batches: list[MicroBatch]) -> int:
    return sum(len(x) for x, _ in batches)


WEIGHED: dict[str, OwnLoop] = {
    "divided-by-own-samples": loop_with(lambda k, batches: 1 / len(batches[k][0])),
    "divided-by-all-samples": loop_with(lambda k, batches: 1 / samples_in(batches)),
    "samples-of-one-counted": loop_with(lambda k, batches: len(batches[k][0]) / len(batches[0][0]) / len(batches)),
    "samples-so-far-counted": loop_with(lambda k, batches: len(batches[k][0]) / samples_in(batches[: k + 1])),
}
"""By mistake of unit 03, a function that makes it."""


@samples_of("accumulate_gradient")
def test_every_mistake_named_in_one_gradient_reproduces_it(exercise, samples):
    trial, unproven, proven = probe_of(exercise), [], set()
    problem, basis = trial.problem, micro_batch_gradients(trial.problem)
    for sample in samples:
        seen = observe_once(sample)["probe"]
        named = set() if seen.failure else set(slugs(mark_once(sample)))
        own = named & {*WEIGHED, "micro-batch-left-out"}
        plain = set() if seen.failure or own else set(diagnose(trial, seen).slugs) & named
        fine = True
        for slug in own & WEIGHED.keys():
            model = problem.build_model()
            WEIGHED[slug](model, problem.loss_fn, problem.batches())
            made = torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad])
            fine &= bool((made - seen.tensors["gradients"][0]).norm() <= SAME * made.norm())
        if "micro-batch-left-out" in own:
            shares = torch.linalg.lstsq(basis.T, seen.tensors["gradients"][0][:, None]).solution[:, 0]
            fine &= 1 < int((shares[: len(problem.epochs[0])].abs() > SAME).sum()) < len(problem.epochs[0])
        if plain:
            fine &= reproduces(plain, trial, seen)
        if not fine:
            unproven.append((sample.path.stem, sorted(named)))
        proven |= own | plain
    assert unproven == []
    assert len(proven) >= 8


def test_weights_of_no_known_function_get_no_name():
    assert name_weights((2, 3, 4), [0.21, 0.37, 0.55]) == ()


def test_a_micro_batch_with_a_tiny_share_is_not_left_out():
    assert name_weights((2, 3, 4), [7e-6, 0.37, 0.55]) == ()
    assert name_weights((2, 3, 4), [1e-9, 0.37, 0.55]) == ("micro-batch-left-out",)


@samples_of("train_epoch_tokens")
def test_every_mistake_named_in_a_loop_over_tokens_reproduces_its_updates(exercise, samples):
    trial, unproven, proven = probe_of(exercise), [], 0
    counted = {slug for slug, _ in OTHER_COUNTS}
    compared = {"tokens-not-reset", "targets-shifted"}  # with an example's movements, which are those of a loop that ran
    for sample in samples:
        seen = observe_once(sample)["probe"]
        named = set() if seen.failure else set(diagnose_tokens(trial, seen).slugs) - compared
        others = [replace(trial.problem, **changes) for slug, changes in OTHER_COUNTS if slug in named]
        rest = named - counted
        if named and not any(reproduces(rest, replace(trial, problem=problem), seen) for problem in others or [trial.problem]):
            unproven.append((sample.path.stem, sorted(named)))
        proven += bool(named)
    assert unproven == []
    assert proven >= 10


SHARING = {"never-sync", "tail-not-synced", "sync-wrong-one", "windows-not-synced", "one-rank-for-all", "shared-out-again"}
SCALES = {"rank-sum": lambda world: world, "rank-divided-twice": lambda world: 1 / world}


@samples_of("ddp_train_epoch")
def test_every_mistake_named_in_a_loop_on_ranks_reproduces_the_sum_over_ranks(exercise, samples):
    trial, unproven, proven = probe_of(exercise), [], 0
    problem = trial.loop.problem
    for sample in samples:
        seen = observe_once(sample)["probe"]
        if seen.failure:
            continue
        ranks = ranks_seen(trial, seen)
        named = set(name_rank_mistakes(trial, ranks)[0]) - SHARING
        if not named or named & {"eval-mode", "ranks-update-apart", "lr-scaled-too"}:
            continue
        factor = next((SCALES[slug](trial.world_size) for slug in named if slug in SCALES), 1.0)
        rest = named - SCALES.keys()
        sums = [by_rank(trial, rank_fingerprint(trial, rank)).sum(0) / factor for rank in ranks]
        variants = [variant for variant, made in (*loop_variants(), *stale_loop_variants()) if set(made) == rest]
        played = [list(itertools.islice(play(variant, problem), len(sums[0]) + 1)) for variant in variants]
        if not any(same_sums(rows, summed) for rows in played for summed in sums):
            unproven.append((sample.path.stem, sorted(named)))
        proven += 1
    assert unproven == []
    assert proven >= 8


def same_sums(rows: list[tuple[int, dict[int, float]]], summed: torch.Tensor) -> bool:
    made = torch.zeros_like(summed)
    if len(rows) != len(summed):
        return False
    for row, (_, shares) in zip(made, rows, strict=True):
        for k, share in shares.items():
            row[k] = share
    return bool(((made - summed).abs() <= SAME).all())


@samples_of("train_window")
def test_every_mistake_named_in_a_window_of_the_capstone_reproduces_its_weights(exercise, samples):
    trials, unproven, proven = trials_of(exercise, 0), [], 0
    special = {"clip": {*CLIPS, *SCALED}, "schedule": {*SCHEDULES}}
    for sample in samples:
        seen = observe_once(sample)
        if any(one.failure for one in seen.values()):
            continue
        named = set(window_mistakes(trials, seen)) & MISTAKES.keys()
        base = named - special["clip"] - special["schedule"]
        asked = {"full": base, "uneven": base} | {
            name: base | (named & slugs) for name, slugs in special.items() if named & slugs
        }
        for name, together in asked.items() if named else ():
            variants = [_all_of(choice) for choice in itertools.product(*(MISTAKES[slug] for slug in sorted(together)))]
            due = (windows_due(trials[name], variant) for variant in variants)
            if not any(weights_like(seen[name], one, trials[name].config) for one in due):
                unproven.append((sample.path.stem, name, sorted(named)))
        proven += bool(named)
    assert unproven == []
    assert proven >= 8


def _all_of(variants: tuple[Any, ...]) -> Any:
    made = RIGHT
    for variant in variants:
        made = merged(made, variant)
    return made
