"""Mistakes are named from the fingerprint, the fewest that explain it, on every problem the marker may use."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import diagnose, read_observation
from autograder.exercises import all_exercises
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.diagnosis.catalogue import CATALOGUE
from gradaccum.diagnosis.loop_variants import CHOICES, MAX_MISTAKES, LoopVariant, loop_variants, play
from gradaccum.diagnosis.naming import MATCH, Passes, name_mistakes
from gradaccum.fingerprint import Fingerprint, expected, micro_batch_columns
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem

SEEDS = range(32)
each_seed = pytest.mark.parametrize("seed", [s if s < 4 else pytest.param(s, marks=pytest.mark.slow) for s in SEEDS])

VARIANT_OF = {
    "right": LoopVariant(),
    "no-scale": LoopVariant(weight="one"),
    "double-scale": LoopVariant(second_divisor="present"),
    "sum-reduction": LoopVariant(weight="sum"),
    "mean-of-means": LoopVariant(weight="mean"),
    "tail-scale": LoopVariant(divisor="N"),
    "tail-dropped": LoopVariant(tail="dropped"),
    "tail-stale": LoopVariant(tail="kept"),
    "short-epoch-no-step": LoopVariant(short="skipped"),
    "zero-every": LoopVariant(clear="every"),
    "never-zero": LoopVariant(clear="never"),
    "zero-before-step": LoopVariant(clear="before step"),
    "step-every": LoopVariant(width="every", weight="mean", divisor="N"),
    "off-by-one-early": LoopVariant(width="early"),
    "off-by-one-late": LoopVariant(width="late"),
    "same-batch-repeated": LoopVariant(fetch="first"),
    "retained-graph": LoopVariant(graph="running"),
}
"""The gallery's loops that can be played; the others change the rate or the mode, or leave .grad as they find it."""


@cache
def probe(seed: int) -> Problem:
    return all_exercises()["train_epoch"].trials(seed, "cpu")["probe"].problem


@cache
def observed(slug: str, seed: int) -> tuple[LoopTrial, Observation]:
    """What a gallery loop does on the marker's probe, and that probe as a trial: run once for all tests."""
    trial = LoopTrial(probe(seed), frozen=True)
    return trial, observe_loop(GALLERY[slug], trial)


@cache
def measured(slug: str, seed: int) -> Fingerprint:
    return read_observation(*observed(slug, seed))


def as_fingerprint(variant: LoopVariant, problem: Problem) -> Fingerprint:
    """What such a loop would leave."""
    rows = list(play(variant, problem))
    columns = micro_batch_columns(problem)
    coefficients = torch.zeros(len(rows), len(columns), dtype=torch.float64)
    for u, (_, row) in enumerate(rows):
        for k, value in row.items():
            coefficients[u, k] = value
    zeros = torch.zeros(len(rows), dtype=torch.float64)
    return Fingerprint(coefficients, zeros, zeros + 1, tuple(epoch for epoch, _ in rows), columns, zeros)


@pytest.mark.slow
@each_seed
def test_no_two_gallery_loops_have_the_same_fingerprint_on_the_marker_s_problem(seed):
    same = [
        (one, other)
        for one, other in itertools.combinations(GALLERY, 2)
        if measured(one, seed).same_as(measured(other, seed), tolerance=1e-2)
    ]
    assert not same


@pytest.mark.slow
@each_seed
def test_every_gallery_loop_is_named_by_its_own_mistake_alone(seed):
    named = {slug: diagnose(*observed(slug, seed)).slugs for slug in GALLERY}
    assert named == {slug: () if slug == "right" else (slug,) for slug in GALLERY}


@pytest.mark.slow
@pytest.mark.parametrize("slug", VARIANT_OF)
def test_a_played_variant_leaves_the_fingerprint_of_the_gallery_loop(slug):
    for seed in SEEDS[:8]:
        played, found = as_fingerprint(VARIANT_OF[slug], probe(seed)), measured(slug, seed)
        assert replace(found, stale=None).same_as(replace(played, stale=None), tolerance=1e-8)


def test_the_variant_of_a_gallery_loop_makes_its_mistake():
    mistakes = dict(loop_variants())
    assert {slug: mistakes[variant] for slug, variant in VARIANT_OF.items()} == {
        slug: () if slug == "right" else (slug,) for slug in VARIANT_OF
    }


def test_every_mistake_of_a_loop_variant_is_in_the_catalogue():
    assert {slug for values in CHOICES.values() for slugs in values.values() for slug in slugs} <= set(CATALOGUE)


def test_the_right_loop_comes_first_and_is_the_only_variant_without_a_mistake():
    counts = [len(slugs) for _, slugs in loop_variants()]
    assert loop_variants()[0] == (LoopVariant(), ())
    assert counts[1] == 1
    assert counts[-1] == MAX_MISTAKES


def test_the_expected_fingerprint_is_that_of_the_default_variant():
    assert all(as_fingerprint(LoopVariant(), probe(seed)).same_as(expected(probe(seed)), 1e-12) for seed in SEEDS[:8])


COMPUTE_THE_SAME = {
    # Clearing before each backward of a running sum leaves the whole window, once: only memory tells it from a right loop.
    frozenset({frozenset(), frozenset({"zero-every", "retained-graph"})}),
    # Once by N and once by what is there, in either order.
    frozenset({frozenset({"double-scale"}), frozenset({"double-scale", "tail-scale"})}),
    # Of N passes over a micro-batch, each cleared by the next, one is left.
    frozenset({frozenset({"step-every"}), frozenset({"same-batch-repeated", "zero-every"})}),
    # N times a single micro-batch: 1/N² each, or only the last of them by 1/N.
    frozenset({frozenset({"same-batch-repeated", "double-scale"}), frozenset({"same-batch-repeated", "zero-every"})}),
}
"""Mistakes, alone or in pairs, that leave the same numbers by doing the same arithmetic."""

TOLD_APART_BY_PASSES = {"step-every", "same-batch-repeated"}
"""An update for each micro-batch, from one pass or from N: how often the model ran says which."""


def rows_of(variant: LoopVariant, problem: Problem) -> tuple:
    rows = play(variant, problem)
    return tuple((e, tuple(sorted((k, round(v, 6)) for k, v in row.items() if abs(v) > MATCH))) for e, row in rows)


@each_seed
def test_single_mistakes_and_pairs_differ_unless_they_compute_the_same(seed):
    explanations = defaultdict(set)
    for variant, slugs in loop_variants():
        if len(slugs) <= 2 and "zero-before-step" not in slugs:  # which hides whatever else is wrong
            explanations[rows_of(variant, probe(seed))].add(frozenset(slugs))
    ambiguous = {frozenset(found) for found in explanations.values() if len(found) > 1}
    unexplained = {found for found in ambiguous - COMPUTE_THE_SAME if not all(slugs & TOLD_APART_BY_PASSES for slugs in found)}
    assert not unexplained
    assert ambiguous >= COMPUTE_THE_SAME


@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:3])])
@pytest.mark.slow
def test_single_mistakes_and_pairs_are_named_as_what_they_are(seed):
    problem = probe(seed)
    wrong = {}
    for variant, slugs in loop_variants():
        if len(slugs) > 2 or "zero-before-step" in slugs:
            continue
        passes = Passes(distinct=variant.fetch != "first", repeated=variant.fetch == "once")
        named = frozenset(name_mistakes(as_fingerprint(variant, problem), problem, passes))
        same = any({named, frozenset(slugs)} <= others for others in COMPUTE_THE_SAME)
        if named != frozenset(slugs) and not same:
            wrong[variant] = named
    assert not wrong


SHAPES = st.builds(
    Problem,
    accumulation_steps=st.integers(2, 5),
    epochs=st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=9).map(tuple), min_size=1, max_size=3).map(tuple),
    stale=st.just(True),
)


@pytest.mark.slow
@settings(max_examples=60)
@given(SHAPES, st.sampled_from(loop_variants()))
def test_no_more_mistakes_are_named_than_were_made(problem, entry):
    variant, slugs = entry
    named = name_mistakes(as_fingerprint(variant, problem), problem)
    assert named is not None
    assert len(named) <= len(slugs)


@pytest.mark.slow
@settings(max_examples=60)
@given(SHAPES, st.sampled_from(loop_variants()), st.sampled_from([0.5137, 1.4142, -0.3719, 3.7181]))
def test_an_update_that_no_variant_makes_is_not_named(problem, entry, factor):
    found = as_fingerprint(entry[0], problem)
    spoilt = replace(found, coefficients=found.coefficients + factor * torch.arange(1, 1 + found.coefficients.shape[1]) ** 0.5)
    assert not len(spoilt.coefficients) or name_mistakes(spoilt, problem) is None


def test_a_fingerprint_that_is_not_linear_has_no_name():
    found = as_fingerprint(LoopVariant(), probe(0))
    assert name_mistakes(replace(found, residuals=found.residuals + 0.1), probe(0)) is None


@pytest.mark.parametrize(
    ("variant", "factor", "slugs"),
    [
        (LoopVariant(), 1 / 4, ("lr-scaled-too",)),
        (LoopVariant(), 1 / 7, ("lr-scaled-too",)),
        (LoopVariant(tail="dropped"), 1 / 3, ("lr-scaled-too", "tail-dropped")),
        (LoopVariant(clear="every"), 1 / 3, ("lr-scaled-too", "zero-every")),
    ],
)
def test_a_lowered_rate_is_named_in_addition_to_what_the_gradient_holds(variant, factor, slugs):
    found = as_fingerprint(variant, probe(0))
    assert name_mistakes(replace(found, rates=found.rates * factor), probe(0)) == slugs


def test_summing_with_a_rate_over_n_is_named_by_the_update_it_makes():
    problem = probe(0)
    found = as_fingerprint(LoopVariant(weight="one"), problem)
    slowed = replace(found, rates=found.rates / problem.accumulation_steps)
    assert name_mistakes(slowed, problem) == ("mean-of-means", "tail-scale")


def test_a_raised_rate_is_no_known_mistake():
    found = as_fingerprint(LoopVariant(), probe(0))
    assert name_mistakes(replace(found, rates=found.rates * 2.5), probe(0)) is None


def test_a_stale_start_is_named_unless_another_mistake_explains_it():
    stale = torch.ones(1, dtype=torch.float64)

    def named(variant: LoopVariant) -> tuple[str, ...]:
        found = as_fingerprint(variant, probe(0))
        return name_mistakes(replace(found, stale=torch.cat([stale, found.stale[1:]])), probe(0))

    assert named(LoopVariant()) == ("stale-start",)
    assert named(LoopVariant(weight="one")) == ("no-scale", "stale-start")
    assert named(LoopVariant(clear="never")) == ("never-zero",)
    assert named(LoopVariant(tail="kept")) == ("tail-stale",)


def test_how_often_the_model_ran_tells_repeated_micro_batches_from_updates_after_each():
    found = as_fingerprint(LoopVariant(width="every", weight="one"), probe(0))
    assert name_mistakes(found, probe(0), Passes(distinct=True)) == ("step-every",)
    assert name_mistakes(found, probe(0), Passes(distinct=True, repeated=True)) == ("same-batch-repeated",)
