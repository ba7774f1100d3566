"""What training loops do instead of what was due is named, or put into words."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch

from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, uneven_sizes
from autograder.diagnosing.loop_diagnosis import diagnose, difference_in_words
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import GALLERY, right, windows
from gradaccum.problems import Problem

PROBLEM = Problem(seed=2, accumulation_steps=3, epochs=((2, 1, 4, 3, 2), (2, 2)), width=8)
PROBE = PROBLEM.with_(stale=True, gated=True)


def observed(loop, problem: Problem = PROBLEM, **options) -> tuple[LoopTrial, Observation]:
    trial = LoopTrial(problem, **options)
    return trial, observe_loop(loop, trial)


def slugs(loop, problem: Problem = PROBE) -> tuple[str, ...]:
    return diagnose(*observed(loop, problem, frozen=True)).slugs


def test_an_observation_is_plain_data():
    _, observation = observed(right)
    assert set(observation.tensors) == {"gradients", "movements", "parameters"}
    assert all(tensor.device.type == "cpu" and not tensor.requires_grad for tensor in observation.tensors.values())
    assert observation.failure is None


def test_a_loop_that_raises_is_observed_until_it_raises():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        model(micro_batches[0][0])
        return micro_batches[100]

    _, observation = observed(loop)
    assert observation.failure.kind == "raised"
    assert "IndexError" in observation.failure.message
    assert observation.facts["forwards_with_grad"] == 1
    assert not observation.tensors


def test_evaluation_mode_is_named_together_with_other_mistakes():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        model.eval()
        GALLERY["no-scale"](model, loss_fn, optimizer, micro_batches, accumulation_steps)

    assert slugs(loop) == ("eval-mode", "no-scale")


def test_a_mode_that_changes_between_windows_is_found():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for k, window in enumerate(windows(micro_batches, accumulation_steps)):
            model.train(k % 2 == 0)
            right(model, loss_fn, optimizer, window, accumulation_steps)
        model.train()

    assert slugs(loop) == ("eval-mode",)


def test_leaving_the_model_in_evaluation_mode_is_named_even_if_no_layer_depends_on_it():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
        model.eval()

    assert slugs(loop, PROBLEM) == ("eval-mode",)


def test_parameters_without_a_gradient_are_named_together_with_other_mistakes():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for p in model.hidden[0].parameters():
            p.requires_grad_(False)
        GALLERY["no-scale"](model, loss_fn, optimizer, micro_batches, accumulation_steps)

    few = Problem(seed=1, accumulation_steps=2, epochs=((2, 2, 2), (2, 3)), width=8)
    assert slugs(loop, few) == ("detached", "no-scale")


def test_parameters_without_a_gradient_are_named_where_nothing_else_can_be_read():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for window in windows(micro_batches, accumulation_steps):
            for x, y in window:
                model.head.bias.grad = torch.autograd.grad(loss_fn(model(x), y), model.head.bias)[0]
            optimizer.step()

    assert slugs(loop) == ("detached",)


def test_a_loss_without_a_graph_is_named_by_the_reason():
    def disabled(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        with torch.no_grad():
            loss = loss_fn(model(micro_batches[0][0]), micro_batches[0][1])
        loss.backward()

    def detached(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        with torch.no_grad():
            model(micro_batches[0][0])
        loss_fn(model(micro_batches[0][0]).detach(), micro_batches[0][1]).backward()

    assert slugs(disabled) == ("grad-disabled",)
    assert slugs(detached) == ("detached",)


def test_other_errors_in_backward_have_no_name():
    def twice(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        loss = loss_fn(model(micro_batches[0][0]), micro_batches[0][1])
        loss.backward()
        loss.backward()

    def changed(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        prediction = model(micro_batches[0][0])
        loss = loss_fn(prediction, micro_batches[0][1])
        prediction.mul_(2)
        loss.backward()

    assert slugs(twice) == slugs(changed) == ()


def test_a_python_error_has_no_name():
    assert slugs(lambda *arguments: 1 / 0) == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: replace(f, coefficients=f.coefficients * 2), "Every window is 2 times what is due."),
        (
            lambda f: replace(
                f, coefficients=f.coefficients * torch.linspace(2, 3, f.coefficients.shape[1]).to(f.coefficients)
            ),
            "Update 1 holds 4/7 of micro-batch 1",
        ),
        (lambda f: replace(f, coefficients=f.coefficients * 0), "Update 1 holds nothing; due were 2/7 of micro-batch 1"),
        (lambda f: replace(f, rates=f.rates * 2), "Update 1 moves the parameters along its gradient 2 times as far as"),
        (lambda f: replace(f, residuals=f.residuals + 0.25), "up to 25% of one is something else"),
        (lambda f: replace(f, residuals=f.residuals + torch.inf), "no longer numbers"),
        (lambda f: replace(f, coefficients=f.coefficients[:2]), "Window 3 is in no update."),
        (lambda f: replace(f, coefficients=f.coefficients[:2] * 0), "2 updates where 3 were due"),
        (lambda f: replace(f, coefficients=f.coefficients[:0], residuals=f.residuals[:0]), "not asked for any update"),
        (lambda f: f, ""),
    ],
)
def test_the_first_difference_is_put_into_words(change, words):
    due = expected(PROBLEM)
    said = difference_in_words(change(due), due)
    assert words in said
    assert bool(words) is bool(said)


def test_parameters_whose_gradients_are_right_are_told_from_those_whose_are_not():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for window in windows(micro_batches, accumulation_steps):
            for parameter in model.parameters():
                parameter.grad = None if parameter.ndim > 1 else parameter.grad  # biases are never cleared
            for x, y in window:
                (loss_fn(model(x), y) * len(x) / sum(len(x) for x, _ in window)).backward()
            optimizer.step()

    remark = diagnose(*observed(loop, frozen=True)).remark
    assert "(hidden.0.weight and head.weight), others do not (hidden.0.bias and head.bias)" in remark


def test_updates_that_lost_a_few_digits_are_told_from_others():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for window in windows(micro_batches, accumulation_steps):
            optimizer.zero_grad()
            for x, y in window:
                (loss_fn(model(x), y) * len(x) / sum(len(x) for x, _ in window)).backward()
            for parameter in model.parameters():
                parameter.grad = parameter.grad.half().to(parameter.dtype)
            optimizer.step()

    assert "as if numbers had lost digits" in diagnose(*observed(loop, frozen=True)).remark


def test_a_loop_that_nothing_explains_gets_words_instead_of_a_name():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in micro_batches:
            loss_fn(model(x), y).backward()
        optimizer.step()

    found = diagnose(*observed(loop, PROBE, frozen=True))
    assert found.slugs == ()
    assert found.remark == "Your updates hold 5 and 2 micro-batches; due are 3, 2 and 2."
    assert found.found.same_as(fingerprint(loop, PROBE))


def test_a_fingerprint_that_is_the_one_due_is_not_shown_for_a_loop_that_is_wrong_elsewhere():
    found = diagnose(*observed(right, PROBE, frozen=True), observed(GALLERY["no-scale"], frozen=True))
    assert (found.slugs, found.found) == ((), None)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_the_sizes_of_an_uneven_window_differ_and_the_last_is_not_their_mean(count):
    for seed in range(50):
        sizes = uneven_sizes(random.Random(seed), [1, 2, 3, 4, 6], count)
        assert len(set(sizes)) == count
        assert sizes[-1] != sum(sizes) / count


@pytest.mark.parametrize(("steps", "left"), [(n, left) for n in (3, 4, 5) for left in range(2, n)])
@pytest.mark.parametrize(("first", "wider"), [(0, 0), (-1, -1), (1, 1), (-1, 0), (1, 0)])
def test_windows_of_nearly_the_right_width_have_a_leftover_in_a_probe(steps, left, first, wider):
    lengths = steps + left, probe_length(2, steps, left)
    assert any((length - (steps + first)) % (steps + wider) for length in lengths)
