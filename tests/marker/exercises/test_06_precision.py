"""Loops that clip or compute in mixed precision: each wrong one is named on many problems, right ones are accepted."""

from __future__ import annotations

from runpy import run_path

import pytest
import torch
from samples import ANSWERS

from autograder.exercises import all_exercises, observers_of
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_loops import play
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_variants import LOOP_MISTAKES
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.float32_sums import float32_sums
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import CountingScaler
from autograder.marking.in_process import mark_function, trials_of
from gradaccum.loops.precision import AMP, CLIPPING

RIGHT = ("clipped", "amp")
GALLERIES = {"train_epoch_clipped": CLIPPING, "train_epoch_amp": AMP}


def named(exercise: str, function, seed: int) -> tuple[str, ...]:
    return tuple(mistake.slug for mistake in mark_function(all_exercises()[exercise], function, seed).mistakes)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", GALLERIES)
@pytest.mark.parametrize("seed", range(3))
def test_every_gallery_loop_gets_its_name_on_the_problems_of_a_seed(exercise, seed):
    for name, loop in GALLERIES[exercise].items():
        verdict = mark_function(all_exercises()[exercise], loop, seed)
        assert tuple(mistake.slug for mistake in verdict.mistakes) == (() if name in RIGHT else (name,)), name
        assert verdict.passed == (name in RIGHT), name


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "mistakes"), [pytest.param(*one, id="+".join(one.mistakes)) for one in LOOP_MISTAKES[1:9]])
def test_mistakes_that_any_loop_can_have_are_named_in_mixed_precision(variant, mistakes):
    assert set(named("train_epoch_amp", lambda *arguments: play(variant, *arguments), 3)) == set(mistakes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_clipping_before_unscaling_costs_the_points_for_clipping_and_no_others(seed):
    verdict = mark_function(all_exercises()["train_epoch_amp"], AMP["clip-before-unscale"], seed)
    assert [result.part.name for result in verdict.results if not result.passed] == ["clip"]


@pytest.mark.parametrize("exercise", ["train_epoch_clipped", "train_epoch_amp"])
def test_thresholds_bind_or_idle_as_a_part_says(exercise):
    trials = all_exercises()[exercise].trials(0, "cpu")
    loop = CLIPPING["clipped"] if exercise == "train_epoch_clipped" else AMP["amp"]
    binding = {"bound": True, "idle": False, "float16": False, "clip": True}
    for name in trials.keys() & binding.keys():
        norms = [
            norm
            for row in observers_of("06_mixed_precision_and_clipping")[exercise](loop, trials[name]).facts["losses"]
            for norm in row
        ]
        assert any(norm > trials[name].max_norm for norm in norms) == binding[name], name


SUMS_FIRST = run_path(str(ANSWERS / "unit_06_mixed_precision_and_clipping/answers/train_epoch_amp.py"))["train_epoch_amp"]
"""A right loop whose gradients are as large as any: it adds up those of sums over samples and divides what is unscaled."""


def largest_gradient(trial) -> float:
    """The largest number among the scaled gradients that it computes on a trial, those of a broken micro-batch left out."""
    largest = 0.0

    def note(gradient):
        nonlocal largest
        if trial.broken is None or gradient.isfinite().all():
            largest = max(largest, float(gradient.abs().max()))

    def watch(layer, inputs, out):
        out.register_hook(note)

    def loop(model, *arguments):
        for parameter in model.parameters():
            parameter.register_hook(note)
        for layer in model.modules():
            layer.register_forward_hook(watch)
        return SUMS_FIRST(model, *arguments)

    observers_of("06_mixed_precision_and_clipping")["train_epoch_amp"](loop, trial)
    return largest


def test_no_gradient_of_a_right_loop_comes_near_what_float16_can_hold():
    """Else the scaler would skip its window. Over 300 seeds the largest has a tenth of it, or less."""
    exercise = all_exercises()["train_epoch_amp"]
    for seed in range(2**63, 2**63 + 20):
        trials = trials_of(exercise, seed)
        largest = {name: largest_gradient(trial) for name, trial in trials.items() if trial.precision == "float16"}
        assert max(largest.values()) < torch.finfo(torch.float16).max / 8, (seed, largest)


def test_a_scaler_counts_what_it_is_asked_for():
    scaler = CountingScaler("cpu", init_scale=4.0)
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.calls == {"unscales": 1, "scaler_steps": 1, "scaler_updates": 1}
    assert w.item() == pytest.approx(0.9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_running_sum_in_bfloat16_would_stall_on_the_problems_for_sums(seed):
    trial = all_exercises()["accumulate_in_float32"].trials(seed, "cpu")["sums"]
    model, loss_fn, batches = trial.build()
    totals = [torch.zeros_like(p) for p in model.parameters()]
    for x, y in batches:
        for total, gradient in zip(totals, torch.autograd.grad(loss_fn(model(x), y), list(model.parameters())), strict=True):
            total += gradient
    due = torch.cat([total.flatten() for total in float32_sums(trial)["no-scale",].values()])
    found = torch.cat([total.flatten() for total in totals]).float()
    assert (found - due).norm() / due.norm() > 0.15
