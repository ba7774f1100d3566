"""Functions that meddle with the model, the optimizer or the data they are given still get a verdict."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from autograder.contract.verdict import Verdict
from autograder.exercises import all_exercises
from autograder.isolation import wire
from autograder.marking.in_process import judge_observations, mark_function, observe_function, trials_of
from autograder.showing.verdict_html import as_html, as_text


def marked(exercise: str, function) -> Verdict:
    """The verdict, marked as a file is but with little time; its text and its HTML can be made."""
    observations = observe_function(
        all_exercises()[exercise], function, trials_of(all_exercises()[exercise], 0, "cpu"), seconds=0.5
    )
    observations = {name: wire.plain(observation) for name, observation in observations.items()}
    verdict = judge_observations(all_exercises()[exercise], trials_of(all_exercises()[exercise], 0, "cpu"), observations)
    assert as_text(verdict)
    assert as_html(verdict).startswith("<div")
    assert isinstance(verdict.score, float)
    return verdict


def clears_the_list(model, loss_fn, optimizer, micro_batches):
    micro_batches.clear()


def spoils_the_data(model, loss_fn, optimizer, micro_batches):
    for x, y in micro_batches:
        x.zero_()
        y.resize_(0)


def deletes_a_layer(model, loss_fn, optimizer, micro_batches):
    del model.head


def deletes_all_parameters(model, loss_fn, optimizer, micro_batches):
    for module in model.modules():
        module._parameters.clear()


def replaces_parameters(model, loss_fn, optimizer, micro_batches):
    model.head = nn.Linear(8, 2).double()


def reshapes_parameters(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.data = torch.zeros(1)


def freezes_parameters(model, loss_fn, optimizer, micro_batches):
    model.requires_grad_(False)


def goes_to_half_precision(model, loss_fn, optimizer, micro_batches):
    model.half()


def goes_to_meta(model, loss_fn, optimizer, micro_batches):
    model.to("meta")


def poisons_parameters(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.data.fill_(float("nan"))


def empties_the_groups(model, loss_fn, optimizer, micro_batches):
    optimizer.param_groups.clear()


def changes_the_rate(model, loss_fn, optimizer, micro_batches):
    for group in optimizer.param_groups:
        group["lr"] = float("inf")


def forgets_the_rate(model, loss_fn, optimizer, micro_batches):
    for group in optimizer.param_groups:
        del group["lr"]


def adds_momentum(model, loss_fn, optimizer, micro_batches):
    for group in optimizer.param_groups:
        group["momentum"] = 0.9


def replaces_forward(model, loss_fn, optimizer, micro_batches):
    model.forward = lambda x: 0 * x


def replaces_step(model, loss_fn, optimizer, micro_batches):
    optimizer.step = lambda *arguments: None


def removes_hooks(model, loss_fn, optimizer, micro_batches):
    model._forward_hooks.clear()
    model._forward_pre_hooks.clear()
    optimizer._optimizer_step_pre_hooks.clear()
    optimizer._optimizer_step_post_hooks.clear()


def puts_strange_gradients(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.grad = torch.full_like(p, float("inf"))


def puts_sparse_gradients(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.grad = torch.zeros_like(p).to_sparse()


def steps_very_often(model, loss_fn, optimizer, micro_batches):
    for _ in range(200):
        optimizer.step()


def leaves_gradients_off(model, loss_fn, optimizer, micro_batches):
    torch.set_grad_enabled(False)


def leaves_other_defaults(model, loss_fn, optimizer, micro_batches):
    torch.set_default_dtype(torch.float16)


def leaves_a_hook_that_raises(model, loss_fn, optimizer, micro_batches):
    def fail(*arguments):
        raise RuntimeError("left behind")

    model.register_forward_hook(fail)
    optimizer.register_step_post_hook(fail)


MEDDLERS = [
    *(clears_the_list, spoils_the_data, deletes_a_layer, deletes_all_parameters, replaces_parameters, reshapes_parameters),
    *(freezes_parameters, goes_to_half_precision, goes_to_meta, poisons_parameters, empties_the_groups, changes_the_rate),
    *(forgets_the_rate, adds_momentum, replaces_forward, replaces_step, removes_hooks, puts_strange_gradients),
    *(puts_sparse_gradients, steps_very_often, leaves_gradients_off, leaves_other_defaults, leaves_a_hook_that_raises),
]


def train(model, loss_fn, optimizer, micro_batches, accumulation_steps=1):
    """The ordinary loop, right in nothing but its signature."""
    losses = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        if optimizer is not None:
            optimizer.step()
        losses.append(loss.item())
    return losses


def meddling(exercise: str, meddle, when: str):
    """A function of an exercise that meddles and then trains, or trains and then meddles."""

    def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        if when == "before":
            meddle(model, loss_fn, optimizer, micro_batches)
        losses = train(model, loss_fn, optimizer, micro_batches)
        if when == "after":
            meddle(model, loss_fn, optimizer, micro_batches)
        return losses

    def accumulate_gradient(model, loss_fn, micro_batches):
        train_epoch(model, loss_fn, torch.optim.SGD(model.parameters(), lr=0.0), micro_batches, 1)

    return accumulate_gradient if exercise == "accumulate_gradient" else train_epoch


@pytest.fixture
def defaults():
    before = torch.get_default_dtype(), torch.is_grad_enabled()
    yield
    torch.set_default_dtype(before[0])
    torch.set_grad_enabled(before[1])


@pytest.mark.parametrize("exercise", ["accumulate_gradient", pytest.param("train_epoch", marks=pytest.mark.slow)])
@pytest.mark.slow
@pytest.mark.parametrize("meddle", MEDDLERS)
def test_meddling_with_what_is_given_gets_a_verdict(exercise, meddle, defaults):
    for when in ("before", "after"):
        assert not marked(exercise, meddling(exercise, meddle, when)).passed


@pytest.mark.slow
def test_meddling_in_one_exercise_does_not_change_the_next_verdict(defaults):
    def right(gradients):
        return sum(gradients) / len(gradients)

    for meddle in MEDDLERS:
        marked("repaired_lost_tail", meddling("repaired_lost_tail", meddle, "after"))
        assert mark_function(all_exercises()["average_gradients"], right).passed
