"""The noise scale of a window, and the pictures about noise and rates, against what theory says."""

from __future__ import annotations

import pytest
import torch

from gradaccum.loops.schedules import WRONG_SCHEDULES, scheduled
from gradaccum.noise import signal_and_noise, simple_noise_scale, square_lengths
from gradaccum.phenomena import gradient_noise, learning_rate_scaling
from gradaccum.problems import Problem


def test_both_estimates_are_unbiased():
    generator = torch.Generator().manual_seed(0)
    true = torch.linspace(-1, 1, 20, dtype=torch.float64)
    found = []
    for _ in range(4000):
        noise = torch.randn(4, 20, generator=generator, dtype=torch.float64)
        found.append(signal_and_noise(list(true + 2 * noise / 3**0.5), size=3))
    signal, noise = torch.tensor(found).mean(0).tolist()
    assert signal == pytest.approx(float(true.square().sum()), rel=0.05)
    assert noise == pytest.approx(20 * 4, rel=0.02)


def test_the_squared_length_of_the_mean_alone_is_too_large():
    gradients = list(torch.randn(8, 30, generator=torch.Generator().manual_seed(1)))
    signal, _ = signal_and_noise(gradients, size=2)
    assert square_lengths(gradients)[1] > signal


def test_equal_gradients_have_no_noise():
    assert simple_noise_scale([torch.ones(3)] * 4, size=2) == pytest.approx(0, abs=1e-12)


def test_one_gradient_is_refused():
    with pytest.raises(ValueError, match="two are needed"):
        signal_and_noise([torch.ones(3)], size=2)


@pytest.mark.parametrize("updates", gradient_noise.PLACES.values())
def test_variances_lie_where_theory_says(updates):
    for replace in (True, False):
        result = gradient_noise.compute(gradient_noise.Settings(updates=updates, replace=replace))
        assert result.variances.tolist() == pytest.approx(result.due, rel=0.15, abs=1e-12)


def test_the_slope_is_minus_one_with_replacement():
    assert gradient_noise.compute(gradient_noise.Settings()).slope == pytest.approx(-1, abs=0.03)


def test_the_noise_scale_grows_in_training_and_is_found_by_windows():
    scales = [gradient_noise.compute(gradient_noise.Settings(updates=u)).noise_scale for u in gradient_noise.PLACES.values()]
    assert scales == sorted(scales)
    _, together, true = gradient_noise.noise_scales(windows=400, accumulation_steps=8, micro_batch_size=4)
    assert true == pytest.approx(scales[0])
    assert together == pytest.approx(true, rel=0.1)


@pytest.mark.parametrize(("optimizer", "rule"), [("SGD", "linear"), ("Adam", "sqrt")])
def test_each_optimizer_has_the_rule_that_follows_the_small_batch(optimizer, rule):
    for steps in (4, 8, 16):
        result = learning_rate_scaling.compute(learning_rate_scaling.Settings(steps, optimizer))
        assert min(result.factor_by_rule, key=result.factor_by_rule.get) == rule
        assert f"follows it best is {learning_rate_scaling.NAMES[rule]}." in learning_rate_scaling.describe(result)


def test_the_linear_rule_diverges_when_the_batch_grows_too_far():
    result = learning_rate_scaling.compute(learning_rate_scaling.PRESETS["Break"])
    assert float(result.curves[-1, 2]) > 1000 * float(result.curves[0, 2])
    assert "No rule follows" in learning_rate_scaling.describe(result)


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
def test_a_wrong_schedule_makes_as_many_updates_at_other_rates():
    problem = Problem(accumulation_steps=3, epochs=((2,) * 8, (2,) * 3))

    def rates(loop):
        model = problem.build_model()
        optimizer = problem.build_optimizer(model)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        arguments = model, problem.loss_fn, optimizer, scheduler
        return [rate for epoch in range(2) for rate in loop(*arguments, problem.batches(epoch), 3)]

    due = rates(scheduled)
    assert due == pytest.approx([0.1, 0.09, 0.081, 0.0729])
    for loops in WRONG_SCHEDULES.values():
        for loop in loops:
            found = rates(loop)
            assert len(found) == 4
            assert found != pytest.approx(due)
