"""Mixed precision on a GPU: ``GradScaler("cuda")`` and autocast, and the precision in which marking computes."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from autograder.contract.devices import full_precision
from autograder.exercises import all_exercises
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import AMP_TOLERANCE, parameters_message
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import AmpTrial, observe_amp
from autograder.marking.in_process import mark_function
from gradaccum.loops.precision import AMP, amp

EXERCISE = all_exercises()["train_epoch_amp"]


def trial(name: str, device: str) -> AmpTrial:
    return EXERCISE.trials(0, device)[name]


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_a_window_in_low_precision_moves_the_parameters_as_on_the_cpu(precision):
    here, there = (observe_amp(amp, trial(precision, device)) for device in ("cpu", "cuda"))
    assert there.facts["dtypes"] == [precision]
    assert not parameters_message(there, here, AMP_TOLERANCE)


def test_a_window_with_infinite_gradients_lowers_the_scale_and_nothing_else():
    broken = trial("inf", "cuda")
    seen = observe_amp(amp, broken)
    assert seen.facts["scale"] == broken.scale / 2
    assert torch.isfinite(seen.tensors["parameters"]).all()


def test_the_scale_grows_with_every_window_that_is_fine():
    growing = trial("growth", "cuda")
    assert observe_amp(amp, growing).facts["scale"] > growing.scale


@pytest.mark.parametrize("slug", AMP)
def test_a_loop_in_mixed_precision_gets_the_verdict_it_gets_on_the_cpu(slug):
    here, there = (mark_function(EXERCISE, AMP[slug], 0, device) for device in ("cpu", "cuda"))
    assert [mistake.slug for mistake in there.mistakes] == [mistake.slug for mistake in here.mistakes]
    assert there.score == here.score


def test_marking_convolves_in_full_float32_whatever_torch_is_set_to():
    torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    try:
        x, weight = torch.randn(8, 64, 16, 16), torch.randn(64, 64, 3, 3)
        due = F.conv2d(x.double(), weight.double())
        with full_precision():
            found = F.conv2d(x.cuda(), weight.cuda()).cpu()
            product = (x.flatten(1).cuda() @ x.flatten(1).cuda().T).cpu()
        assert float((found - due).norm() / due.norm()) < 1e-5
        exact = x.flatten(1).double() @ x.flatten(1).double().T
        assert float((product - exact).norm() / exact.norm()) < 1e-5
        assert torch.backends.cudnn.allow_tf32
    finally:
        torch.set_float32_matmul_precision("highest")
