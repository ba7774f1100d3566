"""What is too rare for a name is described: each such function is played, and gets its sentence and no name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest
import torch
import torch.distributed as dist

import autograder.exercises
from autograder.exercises import all_exercises
from autograder.exercises.unit_02_memory_limits.judging import lines
from autograder.exercises.unit_02_memory_limits.judging import plans as plans_of_batches
from autograder.exercises.unit_03_accumulate import judging as accumulate
from autograder.exercises.unit_05_learning_rate.judging import noise, rules
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging import clipping_variants
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_loops import amp_loop, clipped_loop
from autograder.exercises.unit_07_when_equivalence_breaks.judging import coefficients
from autograder.exercises.unit_08_unequal_micro_batches.judging import denominators
from autograder.exercises.unit_09_contrastive_losses.judging import costs
from autograder.exercises.unit_10_distributed.judging import token_scale
from autograder.exercises.unit_11_running_it.judging import plans as plans_of_runs
from autograder.exercises.unit_11_running_it.judging import wrong_meters
from autograder.exercises.unit_11_running_it.judging.meter import due as due_reports
from autograder.exercises.unit_11_running_it.observing.meter import MeterTrial
from autograder.exercises.unit_12_capstone.judging import batch_sizes
from autograder.exercises.unit_12_capstone.judging import diagnosis as capstone_runs
from autograder.exercises.unit_13_in_the_wild.judging import answers
from autograder.judging.calls import RAISES
from autograder.marking.in_process import mark_function
from gradaccum.capstone.variants import RunVariant, train_window

Play = Callable[[Any], Callable]
"""Makes the function that a student would have written of what is described."""


def call(formula: Callable) -> Callable:
    def function(*arguments: Any, **keywords: Any) -> Any:
        value = formula(*arguments, **keywords)
        if value is RAISES:
            raise ValueError("there is none")
        return value

    return function


def pair(formula: Callable) -> Callable:
    def function(*arguments: Any) -> tuple[float, ...]:
        due = costs.cost(*arguments)
        if arguments[1] == 1:
            whole = formula(*arguments, of=None)
            return due if any(map(math.isnan, whole)) else whole
        found = (formula(*arguments, of=k) for k in (0, 1))
        return tuple(right if math.isnan(number) else number for number, right in zip(found, due, strict=True))

    return function


def factor(formula: Callable) -> Callable:
    def function(local_tokens: torch.Tensor) -> torch.Tensor:
        counts = [torch.zeros_like(local_tokens) for _ in range(dist.get_world_size())]
        dist.all_gather(counts, local_tokens)
        return torch.tensor(formula(int(local_tokens), list(map(int, counts))), dtype=torch.float64)

    return function


def capstone_window(variant: RunVariant) -> Callable:
    return lambda run, window, max_norm: train_window(run, window, max_norm, variant)


def meter(described: tuple[str, Callable[[MeterTrial], list[float]]]) -> type:
    key, formula = described

    class Meter:
        def __init__(self, clock: Callable[[], float]) -> None:
            self.clock, self.now, self.window, self.run = clock, clock(), [], MeterTrial((), (), (), clock(), "cpu")

        def passed(self) -> float:
            before, self.now = self.now, self.clock()
            return self.now - before

        def micro_batch(self, loss: torch.Tensor, samples: int) -> None:
            self.window.append((samples, loss.item(), self.passed()))

        def update(self, lr: float) -> dict[str, float]:
            windows, rates = (*self.run.windows, tuple(self.window)), (*self.run.rates, lr)
            self.run = replace(self.run, windows=windows, seconds=(*self.run.seconds, self.passed()), rates=rates)
            self.window = []
            return {name: row[-1] for name, row in (due_reports(self.run) | {key: formula(self.run)}).items()}

    return Meter


def regression_test(passes: Callable) -> Callable:
    def test(make_trainer: Callable) -> bool:
        make_trainer().train()
        return passes(make_trainer.args[0])

    return test


def of_rows(formula: Callable) -> Callable:
    return lambda gradients, size: formula(torch.stack(list(gradients)).double(), size)


DESCRIBED: dict[str, tuple[Mapping[str, Any], Play]] = {
    "memory_line": (lines.LINES_IN_WORDS, call),
    "plan_micro_batches": (plans_of_batches.PLANS_IN_WORDS, call),
    "sum_form_lr": (accumulate.RATES_IN_WORDS, call),
    "same_update": (accumulate.COMPARISONS_IN_WORDS, call),
    "effective_batch_size": (rules.SIZES_IN_WORDS, call),
    "scale_learning_rate": (rules.RATES_IN_WORDS, call),
    "gradient_noise_scale": (noise.SCALES_IN_WORDS, of_rows),
    "train_epoch_clipped": (clipping_variants.CLIPPING_IN_WORDS, clipped_loop),
    "train_epoch_amp": (clipping_variants.SCALING_IN_WORDS, amp_loop),
    "matched_bn_momentum": (coefficients.MOMENTA_IN_WORDS, call),
    "matched_beta": (coefficients.BETAS_IN_WORDS, call),
    "window_denominator": (denominators.DENOMINATORS_IN_WORDS, call),
    "accumulation_cost": (costs.COSTS_IN_WORDS, pair),
    "global_token_scale": (token_scale.FACTORS_IN_WORDS, factor),
    "RunMeter": (wrong_meters.METERS_IN_WORDS, meter),
    "plan_run": (plans_of_runs.PLANS_IN_WORDS, call),
    "pick_micro_batch_size": (batch_sizes.SIZES_IN_WORDS, call),
    "accumulates_right": (answers.WRONG_TESTS_IN_WORDS, regression_test),
    "train_window": (capstone_runs.WINDOWS_IN_WORDS, capstone_window),
}
"""By exercise, what is described, by sentence, and how it is played."""

SLOW = {"train_epoch_amp", "train_epoch_clipped", "global_token_scale", "pick_micro_batch_size", "train_window"}
"""Exercises whose functions take more than a moment: one seed is enough for them."""

SENTENCES = [
    pytest.param(id, words, marks=pytest.mark.slow if k or id in SLOW else ())
    for id in DESCRIBED
    for k, words in enumerate(DESCRIBED[id][0])
]
"""While you work, one sentence for each exercise is enough."""


@pytest.mark.parametrize(("exercise", "words"), SENTENCES)
def test_a_described_function_loses_points_and_is_told_the_sentence_that_describes_it(exercise, words):
    described, play = DESCRIBED[exercise]
    for one in described[words] if isinstance(described[words], tuple) else (described[words],):
        verdicts = [mark_function(all_exercises()[exercise], play(one), seed) for seed in range(1 if exercise in SLOW else 4)]
        said = {(v.remark.partition("”: ")[2] or v.remark, *(m.slug for m in v.mistakes)) for v in verdicts if not v.passed}
        assert said == {(words,)}


def test_every_table_of_descriptions_is_played():
    names = [module.name for module in walk_packages(autograder.exercises.__path__, "autograder.exercises.")]
    judging = [import_module(name) for name in names if ".judging" in name]
    tables = {id(table): name for module in judging for name, table in vars(module).items() if name.endswith("_IN_WORDS")}
    played = {id(table) for table, _ in DESCRIBED.values()}
    assert [name for table, name in tables.items() if table not in played and not name.startswith("_")] == []


def test_a_sum_in_the_place_of_a_product_is_not_said_to_assume_devices():
    def function(b: int, n: int, world_size: int = 1) -> int:
        return b * n * world_size if world_size > 1 else b + n

    remark = mark_function(all_exercises()["effective_batch_size"], function, 0).remark
    assert "device" not in remark
