"""Watching can be nested, interleaved, left in any order and in any thread, and leaves torch and the run as they are."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

import gradaccum

_spec = importlib.util.spec_from_file_location("torch_state", Path(__file__).with_name("torch_state.py"))
torch_state = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(torch_state)
as_torch_is = torch_state.as_torch_is


def train(model, divisor=2.0, windows=2):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for _ in range(windows):
        for _ in range(2):
            (F.mse_loss(model(torch.ones(2, 3)), torch.ones(2, 2)) / divisor).backward()
        optimizer.step()
        optimizer.zero_grad()


def test_error_of_the_trainer_is_its_own_and_what_came_before_is_judged():
    torch_before, model = as_torch_is(), nn.Linear(3, 2)

    def fails():
        train(model)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), gradaccum.watch(model, 2) as seen:
        fails()
    assert (seen.outcome, seen.fault) == ("due", "")
    assert as_torch_is() == torch_before


def test_backward_that_raises_and_is_caught_is_watched_like_any_other():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(context, value):
            return value.clone()

        @staticmethod
        def backward(context, gradient):
            raise ValueError("out of memory")

    model = nn.Linear(3, 2)
    with gradaccum.watch(model, 2) as seen:
        with pytest.raises(ValueError, match="out of memory"):
            F.mse_loss(Fails.apply(model(torch.ones(2, 3))), torch.ones(2, 2)).backward()
        model.zero_grad()
        train(model)
    assert (seen.outcome, seen.fault) == ("due", ""), str(seen)


def test_watches_of_one_model_in_each_other_see_the_same():
    model = nn.Linear(3, 2)
    model.weight.register_hook(lambda gradient: 2 * gradient)
    with gradaccum.watch(model, 2) as outer, gradaccum.watch(model, 2) as inner:
        train(model)
    assert inner.as_json() == outer.as_json()
    assert "/" in str(inner)


def test_watch_can_be_used_once():
    model = nn.Linear(3, 2)
    watch = gradaccum.watch(model, 2)
    with watch as seen:
        train(model)
    with pytest.raises(RuntimeError, match=r"call gradaccum\.watch\(model, …\) again"), watch:
        pass
    assert seen.outcome == "due"


def test_what_is_seen_can_be_looked_at_during_a_run_and_goes_on():
    model = nn.Linear(3, 2)
    with gradaccum.watch(model, 2) as seen:
        assert "No backward was seen" in str(seen)
        train(model)
        assert "2 updates" in str(seen)
        train(model, divisor=1)
    assert "4 updates" in str(seen)
    assert seen.outcome == "not due"


def test_generators_that_watch_can_be_left_in_any_order():
    torch_before, models = as_torch_is(), [nn.Linear(3, 2) for _ in range(2)]

    def trainer(model, reports):
        with gradaccum.watch(model, 2) as seen:
            reports.append(seen)
            for _ in range(9):
                train(model)
                yield

    reports = []
    first, second = (trainer(model, reports) for model in models)
    next(first)
    next(second)
    first.close()
    next(second)
    second.close()
    assert as_torch_is() == torch_before
    assert [seen.outcome for seen in reports] == ["due", "due"]
    assert ["updates" in str(seen) for seen in reports] == [True, True]
    assert "4 updates, 8 backward passes" in str(reports[1])


class Doubling(TorchFunctionMode):
    """A mode of the trainer's own."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return 2 * out if func is torch.ones else out


def test_modes_that_a_trainer_is_in_outlast_the_watching():
    model = nn.Linear(3, 2)
    with gradaccum.watch(model, 2, updates=1) as seen, Doubling():
        train(model)
        assert torch.ones(1) == 2
    assert torch.ones(1) == 1
    assert seen.outcome == "due"
    watch = gradaccum.watch(model, 2)
    with Doubling():
        watch.__enter__()
        mode = Doubling()
        mode.__enter__()
        watch.__exit__(None, None, None)
        assert torch.ones(1) == 4
        mode.__exit__(None, None, None)
        assert torch.ones(1) == 2


def test_watches_in_threads_see_their_own_thread_and_leave_nothing_behind():
    torch_before, reports = as_torch_is(), {}
    meet = threading.Barrier(2)

    def work(name, divisor):
        model = nn.Linear(3, 2)
        with gradaccum.watch(model, 2) as seen:
            meet.wait()
            train(model, divisor)
            meet.wait()
        reports[name] = seen.as_json()

    threads = [threading.Thread(target=work, args=given) for given in (("right", 2.0), ("wrong", 1.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert as_torch_is() == torch_before
    assert (reports["right"]["outcome"], reports["right"]["backwards"]) == ("due", 4)
    assert (reports["wrong"]["outcome"], reports["wrong"]["backwards"]) == ("not due", 4)


def test_run_in_another_thread_than_the_one_that_watches_cannot_be_told():
    model = nn.Linear(3, 2)
    with gradaccum.watch(model, 2) as seen:
        thread = threading.Thread(target=train, args=(model,))
        thread.start()
        thread.join()
    assert seen.outcome == "cannot tell"
    assert "in another thread: watch in the thread that trains" in str(seen)


def test_function_that_others_replace_in_the_meantime_stays_theirs():
    original, seen = torch.autograd.backward, []
    watch = gradaccum.watch(nn.Linear(3, 2))
    watch.__enter__()
    ours = torch.autograd.backward

    def theirs(*args, **kwargs):
        seen.append("called")
        return ours(*args, **kwargs)

    torch.autograd.backward = theirs
    try:
        watch.__exit__(None, None, None)
        assert torch.autograd.backward is theirs
        model = nn.Linear(3, 2)
        with gradaccum.watch(model, 2) as again:
            train(model)
        assert again.outcome == "due"
        assert torch.autograd.backward is theirs
        assert len(seen) == 4
    finally:
        torch.autograd.backward = original


def test_gradients_are_taken_for_parameters_that_come_as_an_iterator():
    model = nn.Linear(3, 2)
    with gradaccum.watch(model):
        taken = torch.autograd.grad(model(torch.ones(1, 3)).sum(), model.parameters())
        torch.autograd.backward(iter([model(torch.ones(1, 3)).sum()]))
    assert [gradient.shape for gradient in taken] == [parameter.shape for parameter in model.parameters()]
    assert all(torch.equal(gradient, parameter.grad) for gradient, parameter in zip(taken, model.parameters(), strict=True))
