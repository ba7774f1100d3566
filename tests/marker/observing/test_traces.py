"""What a function leaves attached to what it was given is noticed, whatever it was given."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from autograder.observing.traces import ATTRIBUTE, HOOK, OPTIMIZER, REPLACED, SEED, SETTING, notes, noting
from gradaccum.resuming import RunProblem


def loop():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def left_by(function, *given):
    notes()
    noting(function)(*given)
    return notes()


LEAVING = {
    "a hook on a layer": (lambda m, o: m[0].register_forward_hook(print), HOOK),
    "a hook on a parameter": (lambda m, o: m[0].weight.register_hook(print), HOOK),
    "a hook after the accumulation": (lambda m, o: m[0].weight.register_post_accumulate_grad_hook(print), HOOK),
    "a hook before the step": (lambda m, o: o.register_step_pre_hook(print), HOOK),
    "a hook after the step": (lambda m, o: o.register_step_post_hook(print), HOOK),
    "an attribute of the model": (lambda m, o: setattr(m, "calls", 1), ATTRIBUTE),
    "an attribute of a parameter": (lambda m, o: setattr(m[0].bias, "total", 1), ATTRIBUTE),
    "an attribute of the optimizer": (lambda m, o: setattr(o, "scale", 2.0), ATTRIBUTE),
    "a method in place of the model's": (lambda m, o: setattr(m, "forward", m[0].forward), ATTRIBUTE),
    "a step in place of the optimizer's": (lambda m, o: setattr(o, "step", lambda: None), REPLACED),
    "the optimizer's rate": (lambda m, o: o.param_groups[0].update(lr=0.01), OPTIMIZER),
    "the optimizer's momentum": (lambda m, o: o.param_groups[0].update(momentum=0.0), OPTIMIZER),
    "the optimizer's weight decay": (lambda m, o: o.param_groups[0].update(weight_decay=0.1), OPTIMIZER),
    "a layer's setting": (lambda m, o: setattr(m[1], "p", 0.0), SETTING),
}


@pytest.mark.parametrize("what", LEAVING)
def test_what_is_left_behind_is_noted(what):
    leave, message = LEAVING[what]
    assert left_by(leave, *loop()) == [message]


def use_and_remove(model, optimizer):
    with torch.no_grad():
        handle, kept = model[0].register_forward_hook(lambda *_: None), model.forward
        model.forward = lambda x: kept(x)
        model(torch.ones(1, 2))
        model.forward = kept
        handle.remove()


def step_otherwise_and_put_back(model, optimizer):
    kept, optimizer.step = optimizer.step, lambda: None
    rate, optimizer.param_groups[0]["lr"] = optimizer.param_groups[0]["lr"], 1.0
    optimizer.step()
    optimizer.step, optimizer.param_groups[0]["lr"] = kept, rate


def divide_and_multiply_back(model, optimizer):
    optimizer.param_groups[0]["lr"] /= 11
    optimizer.param_groups[0]["lr"] *= 11
    model[1].p = model[1].p / 49 * 49


def train(model, optimizer):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def schedule(model, optimizer):
    scheduler = LambdaLR(optimizer, lambda k: 0.5)
    train(model, optimizer)
    scheduler.step()


@pytest.mark.parametrize("right", [use_and_remove, step_otherwise_and_put_back, divide_and_multiply_back, train, schedule])
def test_what_is_removed_again_and_what_training_does_are_not_noted(right):
    assert left_by(right, *loop()) == []


def test_models_are_found_in_nested_containers_and_a_stream_is_not_read():
    model, _ = loop()
    stream = iter([1, 2])
    assert left_by(lambda held, stream: setattr(held["models"][0], "note", 1), {"models": [model]}, stream) == [ATTRIBUTE]
    assert next(stream) == 1


def test_a_class_is_handed_on_as_it_is():
    assert noting(SimpleNamespace) is SimpleNamespace


def draws(model):
    return torch.rand(3)


def test_a_function_that_seeds_random_numbers_is_noted_and_one_that_draws_is_not():
    model, _ = loop()
    for given in (model, [torch.zeros(2)], 3):
        assert left_by(draws, given) == []
        assert left_by(lambda given: torch.manual_seed(0), given) == [SEED]


def test_a_function_that_is_given_a_run_may_restore_its_random_numbers():
    assert left_by(lambda path, run: torch.manual_seed(0), "path", RunProblem().start()) == []


def test_what_a_function_draws_does_not_depend_on_being_watched():
    model, _ = loop()
    torch.manual_seed(5)
    due = draws(model)
    torch.manual_seed(5)
    assert torch.equal(noting(draws)(model), due)


def test_models_live_as_long_as_the_function_so_that_no_id_is_used_again():
    watched = noting(lambda model: id(model))
    assert len({watched(nn.Linear(2, 2)) for _ in range(20)}) == 20
    assert len({id(nn.Linear(2, 2)) for _ in range(20)}) < 20  # as they would be otherwise
