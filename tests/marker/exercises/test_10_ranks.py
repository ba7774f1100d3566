"""Marking on several ranks: named mistakes, time limits, and forged observations."""

from __future__ import annotations

import dataclasses
import json
import math
import os

import pytest
import torch
import torch.distributed as dist

from autograder.contract.observation import Observation
from autograder.exercises import all_exercises
from autograder.exercises.unit_10_distributed import observing
from autograder.exercises.unit_10_distributed.exercises import NO_GRADIENTS
from autograder.exercises.unit_10_distributed.judging.references import (
    all_ranks,
    by_rank,
    due_parameters,
    expected_fingerprint,
    rank_fingerprint,
    ranks_seen,
)
from autograder.exercises.unit_10_distributed.observing import observe_ranks
from autograder.isolation.wire import plain
from autograder.marking.in_process import judge_observations, mark_function, observe_function, trials_of
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import right, samples_in, windows
from gradaccum.loops.ddp import DDP_GALLERY, never_sync, right_ddp
from gradaccum.ranks import on_ranks

pytestmark = pytest.mark.slow

EXERCISE = all_exercises()["ddp_train_epoch"]
TOKENS = all_exercises()["global_token_scale"]
TRIALS = EXERCISE.trials(5, "cpu")


def slugs(verdict) -> list[str]:
    return [mistake.slug for mistake in verdict.mistakes]


@pytest.mark.parametrize("slug", DDP_GALLERY)
def test_each_loop_of_the_gallery_has_exactly_the_mistake_it_is_named_after(slug):
    verdict = mark_function(EXERCISE, DDP_GALLERY[slug], seed=3)
    assert slugs(verdict) == [slug] * (slug != "right")
    assert verdict.passed is (slug == "right")


def test_windows_of_one_width_whatever_n_is_are_described():
    trials = trials_of(EXERCISE, 5)
    width = trials["probe"].loop.problem.accumulation_steps + 1

    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        right_ddp(model, loss_fn, optimizer, micro_batches, width)

    sizes = trials["single"].loop.problem.epochs
    made, due = sum(math.ceil(len(epoch) / width) for epoch in sizes), sum(map(len, sizes))
    words = f"Your windows hold {width} micro-batches, whatever N is: with N = 1 you make {made} updates where {due} are due."
    assert mark_function(EXERCISE, loop, 5).remark == words


def clips_the_window(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    step, optimizer.step = optimizer.step, lambda: (torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05), step())
    try:
        right_ddp(model, loss_fn, optimizer, micro_batches, accumulation_steps)
    finally:
        optimizer.step = step


def forgets_momentum(model, loss_fn, optimizer, *rest):
    optimizer.state.clear()
    right_ddp(model, loss_fn, optimizer, *rest)


def swaps_arguments_of_loss(model, loss_fn, *rest):
    right_ddp(model, lambda prediction, target: loss_fn(target, prediction), *rest)


@pytest.mark.parametrize(
    ("loop", "beginning"),
    [
        (clips_the_window, "No gradient is longer than 0.05 at its update: "),
        (forgets_momentum, "The parameters are those of an optimizer that forgets its momentum after each epoch."),
        (
            swaps_arguments_of_loss,
            "The parameters are those of updates whose loss was given its two arguments in the wrong order.",
        ),
    ],
)
def test_a_loop_whose_sharing_is_right_is_told_what_else_is_wrong(loop, beginning):
    verdict = mark_function(EXERCISE, loop, seed=3)
    assert slugs(verdict) == []
    assert verdict.remark.startswith(beginning)


def takes_a_loss_of_its_own(model, loss_fn, *rest):
    right_ddp(model, torch.nn.functional.l1_loss, *rest)


def test_ranks_that_share_all_gradients_are_not_told_that_some_are_missing():
    results = {result.part.name: result.message for result in mark_function(EXERCISE, takes_a_loss_of_its_own, seed=3).results}
    assert results["ranks"] == results["rounds"] == NO_GRADIENTS


def scale_in_half_precision(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return (local_tokens * dist.get_world_size() / total.clamp(min=1)).half()


def scale_with_reduce(local_tokens):
    total = local_tokens.clone()
    dist.reduce(total, dst=0)
    return local_tokens * dist.get_world_size() / total.clamp(min=1)


def scale_sent_to_one(local_tokens):
    world, total = dist.get_world_size(), local_tokens.clone()
    gathered = None if dist.get_rank() else [torch.zeros_like(total) for _ in range(world)]
    dist.gather(total, gathered, dst=0)
    if gathered is not None:
        total = sum(gathered)
        dist.send(total, dst=1)
    elif dist.get_rank() == 1:
        dist.recv(total, src=0)
    return world * local_tokens / total.clamp(min=1)


@pytest.mark.parametrize(
    ("function", "beginning"),
    [
        (scale_sent_to_one, "All ranks but the third get the factor that is due in every call."),
        (scale_in_half_precision, "Somewhere on the way your numbers are rounded to 16 bits, which hold too few digits."),
        (scale_with_reduce, "Only the first rank gets the factor that is due in every call."),
    ],
)
def test_factors_that_follow_no_wrong_formula_are_compared_with_those_due(function, beginning):
    verdict = mark_function(TOKENS, function, seed=3)
    assert not verdict.passed
    assert verdict.remark.startswith(beginning)


def test_problem_of_all_ranks_holds_the_samples_of_each_rank():
    trial, one = TRIALS["probe"], TRIALS["probe"].loop.problem
    first, second = one.batches(1), one.with_(rank=1).batches(1)
    in_turn = all_ranks(trial).batches(1)
    assert all(torch.equal(a[0], b[0]) for a, b in zip(in_turn, first + second, strict=True))
    together = all_ranks(trial, merged=True).batches(1)
    assert all(torch.equal(x, torch.cat([a[0], b[0]])) for (x, _), a, b in zip(together, first, second, strict=True))


def test_right_loop_over_merged_ranks_has_the_fingerprint_of_one_rank():
    trial = TRIALS["probe"]
    assert fingerprint(right, all_ranks(trial, merged=True)).same_as(expected(trial.loop.problem))


def test_fingerprint_of_a_rank_shows_which_ranks_gradients_it_used():
    trial = TRIALS["probe"]
    ranks = ranks_seen(trial, observe_ranks(right_ddp, trial))
    assert all(rank_fingerprint(trial, rank).same_as(expected_fingerprint(trial)) for rank in ranks)
    alone = [by_rank(trial, rank_fingerprint(trial, one)) for one in ranks_seen(trial, observe_ranks(never_sync, trial))]
    for rank, parts in enumerate(alone):
        assert parts[rank].any()
        assert parts[1 - rank].abs().max() < 1e-6


def test_parameters_due_are_those_that_two_real_ranks_end_with():
    trial = TRIALS["leftover"]
    start, due = due_parameters(trial)
    for rank in ranks_seen(trial, observe_ranks(right_ddp, trial)):
        assert torch.allclose(rank.parameters, due, rtol=0, atol=1e-12)
        assert not torch.allclose(rank.parameters[0], start)


def test_process_group_left_open_by_a_submission_does_not_disturb_marking():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        assert mark_function(TOKENS, right_scale).passed
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def right_scale(local_tokens):
    total = local_tokens.clone()
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens / total.clamp(min=1)


def test_rank_that_dies_costs_only_its_own_trial():
    def dies_with_three(local_tokens):
        if dist.get_world_size() == 3:
            os._exit(1)
        return right_scale(local_tokens)

    verdict = mark_function(TOKENS, dies_with_three)
    assert [result.points for result in verdict.results] == [1, 0, 1]
    assert verdict.results[1].message.startswith("Your code ended the process of rank ")


def test_error_raised_on_a_rank_is_described_like_any_other():
    def wrong(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        raise ValueError("not like this")

    message = mark_function(EXERCISE, wrong).results[0].message
    assert message == "Your code raised ValueError: not like this (line 2 of wrong)."


def test_stub_is_reported_as_not_written_for_every_part():
    def stub(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        raise NotImplementedError

    verdict = mark_function(EXERCISE, stub)
    assert verdict.failure.kind == "unwritten"
    assert verdict.failure_everywhere


def test_ranks_that_wait_for_each_other_run_out_of_time_and_are_told_why(monkeypatch):
    monkeypatch.setattr(observing, "WAIT", 1.0)  # the limit itself need not be waited for
    begun = []
    monkeypatch.setattr(observing, "on_ranks", lambda *args, **options: begun.append(args) or on_ranks(*args, **options))

    def waits(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        if dist.get_rank() == 0:
            dist.barrier()
        right_ddp(model, loss_fn, optimizer, micro_batches, accumulation_steps)
        if dist.get_rank() == 1:
            dist.all_reduce(torch.ones(1))

    verdict = mark_function(EXERCISE, waits)
    assert verdict.failure.kind == "time"
    assert "they wait for each other" in verdict.failure.message
    assert len(begun) == 1, "the other trials are not even begun"


def test_endless_loop_on_a_rank_runs_out_of_time(monkeypatch):
    monkeypatch.setattr(observing, "WORK", 1.0)

    def endless(local_tokens):
        while True:
            pass

    verdict = mark_function(TOKENS, endless)
    assert verdict.failure.kind == "time"
    assert verdict.score == 0


@pytest.fixture(scope="module")
def honest():
    return {name: plain(seen) for name, seen in observe_function(EXERCISE, right_ddp, trials_of(EXERCISE, 5, "cpu")).items()}


def test_honest_observations_earn_every_point(honest):
    assert judge_observations(EXERCISE, trials_of(EXERCISE, 5, "cpu"), honest).passed


def verdict_on_changed(honest, change):
    """The verdict on honest observations after a change to the facts and tensors of every trial."""
    made_up = {}
    for name, seen in honest.items():
        facts, tensors = json.loads(json.dumps(seen.facts)), dict(seen.tensors)
        change(facts, tensors)
        made_up[name] = Observation(tensors, facts)
    return judge_observations(EXERCISE, trials_of(EXERCISE, 5, "cpu"), made_up)


MALFORMED = {
    "no facts": lambda facts, tensors: facts.clear(),
    "one rank too few": lambda facts, tensors: facts["ranks"].pop(),
    "ranks that are numbers": lambda facts, tensors: facts.update(ranks=[1, 2]),
    "ranks that are a text": lambda facts, tensors: facts.update(ranks="ab"),
    "no counts": lambda facts, tensors: facts["ranks"][0].pop("bytes"),
    "counts that are texts": lambda facts, tensors: facts["ranks"][0].update(bytes="1"),
    "epochs that are not": lambda facts, tensors: facts["ranks"][0].update(update_epochs=[99]),
    "updates that are not": lambda facts, tensors: facts["ranks"][0]["update_epochs"].append(0),
    "no tensors": lambda facts, tensors: tensors.clear(),
    "parameters of another shape": lambda facts, tensors: tensors.update(parameters1=torch.zeros(3)),
    "parameters of another dtype": lambda facts, tensors: tensors.update(parameters0=tensors["parameters0"].int()),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_observations_earn_nothing_and_raise_no_error(honest, what):
    verdict = verdict_on_changed(honest, MALFORMED[what])
    assert verdict.score == 0
    assert "cannot be judged" in verdict.results[0].message


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308])
def test_nan_infinite_and_huge_numbers_earn_nothing_and_raise_no_error(honest, value):
    def fill(facts, tensors):
        tensors.update({name: torch.full_like(tensor, value) for name, tensor in tensors.items()})

    verdict = verdict_on_changed(honest, fill)
    assert [result.passed for result in verdict.results if result.part.name != "rounds"] == [False] * 3


def test_forged_counts_earn_no_points_for_ranks_that_share_nothing(honest):
    made_up = {}
    for name, one in observe_function(EXERCISE, never_sync, trials_of(EXERCISE, 5, "cpu")).items():
        pairs = zip(one.facts["ranks"], honest[name].facts["ranks"], strict=True)
        facts = [mine | {"bytes": theirs["bytes"], "rounds": theirs["rounds"]} for mine, theirs in pairs]
        made_up[name] = dataclasses.replace(one, facts={"ranks": facts})
    verdict = judge_observations(EXERCISE, trials_of(EXERCISE, 5, "cpu"), made_up)
    assert verdict.score == 0
    assert slugs(verdict) == ["never-sync"]


@pytest.mark.parametrize(
    "ranks", [None, [], [[1.0]], "ab", [[1.0, 2.0], [None, 3.0]], [["x", "y"], [1, 2]], [[1e308, -1e308]] * 2]
)
def test_forged_factors_earn_nothing_and_raise_no_error(ranks):
    made_up = dict.fromkeys(TOKENS.trials(5, "cpu"), Observation(facts={"ranks": ranks}))
    assert judge_observations(TOKENS, trials_of(TOKENS, 5, "cpu"), made_up).score == 0


def whole_window(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
        loss_fn(model(x), y).backward()
        optimizer.step()


def pairs(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for pair in windows(window, 2):
            x, y = (torch.cat(parts) for parts in zip(*pair, strict=True))
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()


@pytest.mark.parametrize(("loop", "said"), [(whole_window, "All samples"), (pairs, "In a window of many micro-batches")])
def test_joined_micro_batches_are_detected_even_if_the_byte_count_is_forged(loop, said):
    def modest(facts, tensors):
        for rank in facts["ranks"]:
            rank["peak_bytes"] = 1

    seen = {name: plain(one) for name, one in observe_function(EXERCISE, loop, trials_of(EXERCISE, 5, "cpu")).items()}
    assert verdict_on_changed(seen, modest).results[0].message.startswith(said)
