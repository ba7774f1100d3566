"""Loops over tokens: what they count is named, alone and together with other mistakes."""

from __future__ import annotations

import pytest
import torch
from samples import SAMPLES, mark
from torch.nn import functional as F

from autograder.contract.trials import trial_random
from autograder.diagnosing.token_diagnosis import diagnose_tokens
from autograder.exercises import all_exercises
from autograder.exercises.unit_08_unequal_micro_batches.exercises import unequal_lengths
from autograder.exercises.unit_08_unequal_micro_batches.judging.denominators import denominator
from autograder.judging.token_words import RENAMED, in_tokens
from autograder.marking.in_process import mark_function
from autograder.observing.loops import observe_loop
from autograder.observing.token_loops import observe_tokens
from gradaccum.loops import GALLERY, windows
from gradaccum.loops.tokens import TOKEN_LOOPS
from gradaccum.problems.tokens import IGNORE_INDEX

pytestmark = pytest.mark.slow

EXERCISE = all_exercises()["train_epoch_tokens"]
SEEDS = (0, 1, 2, 17)
COUNTED_BY_SAMPLES = [
    "zero-every",
    "never-zero",
    "tail-dropped",
    "tail-stale",
    "off-by-one-late",
    "double-scale",
    "stale-start",
]


def counts_positive_targets(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets > 0).sum()) for _, targets in window))
        for x, targets in window:
            F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum").backward()
        rates = [group["lr"] for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate / tokens
        optimizer.step()
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate


def test_where_rates_make_up_for_sums_it_is_said_how_far_an_update_moves():
    message = mark_function(EXERCISE, counts_positive_targets, seed=0).results[0].message
    assert message.endswith(" Update 1 moves the parameters 1.39 times as far as is due.")


def test_a_loop_without_leftover_windows_is_not_said_to_stop_at_an_empty_one():
    (sample,) = (sample for sample in SAMPLES if sample.unit == EXERCISE.unit and sample.path.stem == "tail_dropped")
    assert "stops" not in str(mark(sample, 3).results)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slug", ["right", "token-mean-of-means", "sequences-for-tokens", "padding-counted"])
def test_diagnosis_names_what_a_loop_counts_instead_of_tokens(slug, seed):
    probe = EXERCISE.trials(seed, "cpu")["probe"]
    found = diagnose_tokens(probe, observe_tokens(TOKEN_LOOPS[slug], probe))
    assert [RENAMED.get(name, name) for name in found.slugs] == ([] if slug == "right" else [slug])
    assert not found.remark


@pytest.mark.parametrize("slug", COUNTED_BY_SAMPLES)
def test_gallery_loop_gets_its_own_mistake_and_counting_sequences_named(slug):
    probe = EXERCISE.trials(0, "cpu")["probe"]
    found = diagnose_tokens(probe, observe_loop(GALLERY[slug], probe))
    assert set(found.slugs) == {"sequences-for-tokens", slug}


def test_unexplained_loop_gets_a_remark_and_no_named_mistake():
    def arbitrary(model, optimizer, micro_batches, accumulation_steps, ignore_index=IGNORE_INDEX):
        for x, _ in micro_batches:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

    probe = EXERCISE.trials(0, "cpu")["probe"]
    found = diagnose_tokens(probe, observe_tokens(arbitrary, probe))
    assert found.slugs == ()
    assert found.remark


@pytest.mark.parametrize("seed", range(20))
def test_micro_batches_of_a_window_hold_different_numbers_of_tokens(seed):
    chance = trial_random("any", seed)
    lengths = unequal_lengths(chance, 7, 3)
    assert len(lengths) == 7
    for first in (0, 3, 6):
        counts = [sum(sequences) for sequences in lengths[first : first + 3]]
        assert len(set(counts)) == len(counts)


@pytest.mark.parametrize("seed", range(5))
def test_denominator_is_what_cross_entropy_divides_by(seed):
    for trial in all_exercises()["window_denominator"].trials(seed, "cpu").values():
        (targets,), weight = trial.arguments, trial.keywords.get("weight")
        every = torch.cat([part.flatten() for part in targets])
        logits = torch.randn(len(every), 6 if weight is None else len(weight), dtype=torch.float64)
        total = F.cross_entropy(logits, every, reduction="sum", **trial.keywords)
        mean = F.cross_entropy(logits, every, **trial.keywords)
        due = denominator(targets, **trial.keywords)
        assert mean.isnan() if due == 0 else total / due == pytest.approx(float(mean))


@pytest.mark.parametrize("slug", ["sum-reduction", "loss-mean-of-means"])
def test_messages_about_token_loops_speak_of_tokens(slug):
    assert "tokens" in in_tokens(slug).message
    assert in_tokens(slug).slug == slug


def test_changing_the_targets_in_place_is_noticed_and_does_not_change_the_denominator_due():
    def window_denominator(targets, weight=None, ignore_index=IGNORE_INDEX):
        due = denominator(targets, weight, ignore_index)
        for part in targets:
            part.zero_()
        return due

    verdict = mark_function(all_exercises()["window_denominator"], window_denominator)
    assert {result.message for result in verdict.results} == {"Your function changed the values it was given."}
