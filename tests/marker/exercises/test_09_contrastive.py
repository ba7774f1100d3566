"""Marking of contrastive losses: hostile functions, forged observations, and what diagnosis can tell apart."""

from __future__ import annotations

import dataclasses
import functools
import math

import pytest
import torch

from autograder.contract.observation import Observation
from autograder.exercises import all_exercises
from autograder.exercises.unit_09_contrastive_losses.judging.loss_variants import loss_variants, name_gradients, play
from autograder.exercises.unit_09_contrastive_losses.judging.messages import in_words_of_windows, loss_message
from autograder.exercises.unit_09_contrastive_losses.judging.references import MEMORY, holds_several_graphs
from autograder.exercises.unit_09_contrastive_losses.observing import ContrastiveTrial, observe_contrastive
from autograder.isolation.wire import plain
from autograder.marking.in_process import judge_observations, mark_function, observe_function, trials_of
from gradaccum.loops.contrastive import cached_features, one_large_batch
from gradaccum.problems.contrastive import info_nce

pytestmark = pytest.mark.slow

CONTRASTIVE, COST = all_exercises()["accumulate_contrastive"], all_exercises()["accumulation_cost"]


@functools.cache
def right_observations() -> dict[str, Observation]:
    return {
        name: plain(seen)
        for name, seen in observe_function(CONTRASTIVE, cached_features, trials_of(CONTRASTIVE, 0, "cpu")).items()
    }


PROBLEM = CONTRASTIVE.trials(0, "cpu")["encoders"].problem
PAIRS, STEPS = sum(len(images) for images, _ in PROBLEM.batches()), len(PROBLEM.batches())


def own_losses() -> list[float]:
    return [float(one_large_batch(*PROBLEM.build(), [batch])) for batch in PROBLEM.batches()]


OTHER_LOSSES = {
    "the loss times the number of pairs": lambda loss: loss * PAIRS,
    "the loss times the number of micro-batches": lambda loss: loss * STEPS,
    "the loss divided by the number of micro-batches": lambda loss: loss / STEPS,
    "the mean of the losses that micro-batches have on their own pairs alone": lambda loss: sum(own_losses()) / STEPS,
    "the sum of the losses that micro-batches have on their own pairs alone": lambda loss: sum(own_losses()),
    "the loss of the last micro-batch on its own pairs alone": lambda loss: own_losses()[-1],
}


@pytest.mark.parametrize("words", OTHER_LOSSES)
def test_a_loss_that_is_another_number_of_the_window_is_said_to_be_that(words):
    seen = Observation(facts={"loss": OTHER_LOSSES[words](one_large_batch(*PROBLEM.build(), PROBLEM.batches()))})
    assert (
        loss_message(ContrastiveTrial(PROBLEM), seen)
        == f"The number you return is not the loss of the whole window. It is {words}."
    )


def test_a_summed_loss_is_said_to_be_one_of_the_pairs_and_not_of_each_micro_batch():
    assert in_words_of_windows("sum-reduction").message == (
        "Your gradients are those of a loss that is summed over its pairs, where their mean is due."
    )


STRANGE_FACTS = [
    {},
    {"training": "yes", "peak_bytes": "none", "loss": "small"},
    {"training": True, "peak_bytes": True, "loss": True},
    {"training": True, "peak_bytes": math.nan, "loss": math.nan},
    {"training": True, "peak_bytes": 10**400, "loss": 10**400},
    {"training": [], "peak_bytes": {}, "loss": [1.0], "type": {"a": 1}},
    {"type": None},
]


@pytest.mark.parametrize("facts", STRANGE_FACTS, ids=range(len(STRANGE_FACTS)))
def test_malformed_facts_earn_neither_loss_nor_memory_and_raise_no_error(facts):
    forged = {name: dataclasses.replace(seen, facts=facts) for name, seen in right_observations().items()}
    verdict = judge_observations(CONTRASTIVE, trials_of(CONTRASTIVE, 0, "cpu"), forged)
    passed = {result.part.name for result in verdict.results if result.passed}
    assert not passed & {"loss", "memory"}
    assert str(verdict)


STRANGE_TENSORS = [
    torch.empty(0),
    torch.zeros(1000),
    torch.full((3, 3), math.nan),
    torch.tensor(1),
    torch.tensor([math.inf]),
    torch.tensor([True]),
]


@pytest.mark.parametrize(
    "key", ["gradient/images", "gradient/texts", "gradient/scale", "parameters/images", "parameters/scale"]
)
@pytest.mark.parametrize("tensor", [*STRANGE_TENSORS, None], ids=range(1 + len(STRANGE_TENSORS)))
def test_malformed_or_missing_tensors_cost_points_and_raise_no_error(key, tensor):
    seen = {}
    for name, one in right_observations().items():
        tensors = {k: t for k, t in one.tensors.items() if k != key} | ({} if tensor is None else {key: tensor})
        seen[name] = dataclasses.replace(one, tensors=tensors)
    verdict = judge_observations(CONTRASTIVE, trials_of(CONTRASTIVE, 0, "cpu"), seen)
    assert not verdict.passed
    assert str(verdict)


def test_observations_without_numbers_earn_nothing():
    empty = dict.fromkeys(CONTRASTIVE.trials(0, "cpu"), Observation())
    assert judge_observations(CONTRASTIVE, trials_of(CONTRASTIVE, 0, "cpu"), empty).score == 0


@pytest.mark.parametrize("peak", [0, 1, 100, -5])
def test_an_impossible_count_of_bytes_is_not_believed(peak):
    trial = CONTRASTIVE.trials(0, "cpu")["memory"]
    assert holds_several_graphs(trial, Observation(facts={"peak_bytes": peak}))


def test_memory_limit_lies_far_above_right_functions_and_far_below_the_large_batch():
    trial = CONTRASTIVE.trials(0, "cpu")["memory"]
    peaks = [observe_contrastive(loop, trial).facts["peak_bytes"] for loop in (cached_features, one_large_batch)]
    assert peaks[0] * 2 * MEMORY < peaks[1]


def gives_strange_gradients(encode_image, encode_text, logit_scale, micro_batches):
    loss = cached_features(encode_image, encode_text, logit_scale, micro_batches)
    for parameter in encode_image.parameters():
        parameter.grad = None
    logit_scale.grad = torch.full_like(logit_scale, math.nan)
    return loss


def replaces_the_data(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in encode_text.parameters():
        parameter.data = torch.zeros(7, dtype=parameter.dtype)
        parameter.grad = None
    return 1.0


def freezes(encode_image, encode_text, logit_scale, micro_batches):
    encode_image.requires_grad_(False)
    return cached_features(encode_image, encode_text, logit_scale, micro_batches)


def returns_a_matrix(*arguments):
    cached_features(*arguments)
    return torch.ones(2, 2)


def returns_infinity(*arguments):
    cached_features(*arguments)
    return math.inf


@pytest.mark.parametrize(
    "function", [gives_strange_gradients, replaces_the_data, freezes, returns_a_matrix, returns_infinity, print, lambda: 0]
)
def test_a_function_that_meddles_with_its_arguments_does_not_pass(function):
    assert not mark_function(CONTRASTIVE, function).passed


COSTS = [None, math.nan, (2,), (1, 2, 3), [2, None], {"a": 1}, (True, False), ("2", "0"), torch.eye(2), 10**400, object()]


@pytest.mark.parametrize("value", COSTS, ids=range(len(COSTS)))
def test_a_cost_that_is_not_a_pair_of_numbers_earns_nothing(value):
    assert mark_function(COST, lambda *arguments: value).score == 0


@pytest.mark.parametrize("facts", [{}, {"raised": 7}, {"value": "x"}, {"value": [[1], 2]}, {"value": None}], ids=range(5))
def test_forged_cost_earns_nothing_and_raises_no_error(facts):
    forged = dict.fromkeys(COST.trials(0, "cpu"), Observation(facts=facts))
    assert judge_observations(COST, trials_of(COST, 0, "cpu"), forged).score == 0


@pytest.mark.parametrize("seed", range(4))
def test_no_two_variants_with_one_mistake_and_different_names_leave_the_same_gradients(seed):
    problem = CONTRASTIVE.trials(seed, "cpu")["probe"].problem
    single = [(variant, slugs) for variant, slugs in loss_variants() if len(slugs) <= 1]
    for variant, slugs in single:
        found = name_gradients(problem, play(variant, problem))
        assert found is not None
        assert found.mistakes == slugs, variant


def test_the_gradients_of_every_trial_are_far_larger_than_rounding():
    for name, trial in CONTRASTIVE.trials(0, "cpu").items():
        seen = observe_contrastive(cached_features, trial)
        assert min(seen.tensors[f"gradient/{part}"].norm() for part in ("images", "texts")) > 1e-3, name


def test_marking_a_contrastive_loss_again_gives_the_same_verdict():
    first = str(mark_function(CONTRASTIVE, one_large_batch, 5))
    assert {str(mark_function(CONTRASTIVE, one_large_batch, 5)) for _ in range(5)} == {first}


def test_float32_is_accepted_on_a_device_without_float64():
    problem = dataclasses.replace(CONTRASTIVE.trials(0, "cpu")["encoders"].problem, dtype="float32")
    seen = observe_contrastive(cached_features, ContrastiveTrial(problem))
    assert seen.tensors["gradient/images"].dtype == torch.float32
    *encoders, logit_scale = problem.build()
    images, texts = (torch.cat(side) for side in zip(*problem.batches(), strict=True))
    due = info_nce(encoders[0](images), encoders[1](texts), logit_scale).item()
    assert seen.facts["loss"] == pytest.approx(due, rel=1e-5)
