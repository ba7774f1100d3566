"""Marking stays on the device it is asked for, tested with a pretended GPU on machines without one.

``tests/cuda`` marks the same samples on a real GPU.
"""

from __future__ import annotations

import itertools
import re

import pytest
import torch
from pretend_device import pretended_cuda
from samples import ACCEPTED, SAMPLES, mark, marks_differ, read, verdicts_differ
from torch.nn import functional as F

from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem

pytestmark = pytest.mark.slow

ON_ANY_DEVICE = [sample for sample in SAMPLES if not all_exercises()[sample.exercise].cpu_only]
MAKES_TENSORS = re.compile(r"torch\.(?!no_grad|enable_grad|manual_seed|utils)\w+\(|nn\.\w+\(|\.to\(|numpy")
ONE_OF_EACH_KIND = [
    sample
    for exercise in all_exercises()
    for kind in (ACCEPTED, "mistakes")
    for sample in itertools.islice(
        (
            one
            for one in ON_ANY_DEVICE
            if (one.exercise, one.kind) == (exercise, kind) and MAKES_TENSORS.search(one.path.read_text())
        ),
        1,
    )
]
"""For each exercise, a right and a wrong sample that might create a tensor on the wrong device; all would take minutes."""

DIFFERENT_ON_A_GPU = [
    sample
    for sample in ON_ANY_DEVICE
    if sample.path.stem
    in ("average_sample_gradients_with_one_mask", "batch_gradient_seeds_and_puts_back", "saved_bytes_by_data_pointer")
]
"""These once got full marks on a real GPU: random numbers came from another generator, a slice had a storage of its own."""

USUAL = ("batch_gradient", "saved_bytes", "train_epoch", "train_epoch_amp", "replace_batchnorm")
FIRST = {sample.exercise: sample for sample in reversed(ON_ANY_DEVICE) if sample.kind == ACCEPTED and sample.exercise in USUAL}


@pytest.mark.parametrize("sample", dict.fromkeys([*FIRST.values(), *ONE_OF_EACH_KIND, *DIFFERENT_ON_A_GPU]), ids=str)
def test_a_sample_gets_the_verdict_that_it_gets_on_the_cpu(sample):
    with pretended_cuda():
        assert not verdicts_differ(sample, mark(sample, 0, "cuda"))


FORGETS_THE_DEVICE = """
import torch

EXERCISE = "batch_gradient"

def batch_gradient(model, loss_fn, x, y):
    weights = torch.ones(1, dtype=x.dtype)
    loss = (weights * loss_fn(model(x), y)).sum()
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {name: gradient for name, gradient in zip(named, found) if gradient is not None}
"""


def test_the_gpu_suite_detects_code_that_fails_only_on_a_gpu(tmp_path):
    path = tmp_path / "01_batches_and_gradients" / "accepted" / "forgets_the_device.py"
    path.parent.mkdir(parents=True)
    path.write_text(FORGETS_THE_DEVICE)
    sample = read(path)
    assert not marks_differ(sample, "cpu")
    with pretended_cuda():
        assert "on cuda rejected" in marks_differ(sample, "cuda")
        assert not marks_differ(FIRST["batch_gradient"], "cuda")


def test_check_gives_the_same_verdict_on_a_gpu_as_on_the_cpu():
    exercise = all_exercises()["train_epoch"]
    with pretended_cuda():
        there = mark_function(exercise, GALLERY["no-scale"], 0, "cuda")
    assert str(there) == str(mark_function(exercise, GALLERY["no-scale"], 0, "cpu"))


@pytest.mark.parametrize("slug", ["right", "never-zero"])
def test_a_fingerprint_is_on_the_cpu_wherever_the_loop_ran(slug):
    problem = Problem(3, 3, ((2, 1, 4, 3, 2), (1, 2)), stale=True, width=8)
    with pretended_cuda():
        found = fingerprint(GALLERY[slug], problem.with_(device="cuda"))
        assert found.coefficients.device.type == "cpu"
        assert found.same_as(expected(problem)) == (slug == "right")
    assert found.same_as(fingerprint(GALLERY[slug], problem))


def test_the_pretended_gpu_refuses_what_a_real_gpu_refuses():
    with pretended_cuda():
        x = torch.ones(2, 3, device="cuda")
        assert x.device.type == (x * 2).device.type == x.cpu().cuda().device.type == "cuda"
        assert (x * torch.tensor(2.0)).is_cuda  # a tensor without dimensions may come from the CPU
        assert not x.cpu().is_cuda
        with pytest.raises(RuntimeError, match="same device"):
            x + torch.ones(2, 3)
        with pytest.raises(RuntimeError, match="same device"):
            F.cross_entropy(x, torch.arange(2))
        with pytest.raises(TypeError, match="numpy"):
            x.numpy()
        weight = torch.nn.Linear(3, 1).to("cuda").weight
        (weight * x).sum().backward()
        assert weight.grad.is_cuda
    assert x.device.type == "cpu"
