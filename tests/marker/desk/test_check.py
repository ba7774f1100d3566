"""``check(function)`` says what a student's function computes, wherever it is called."""

from __future__ import annotations

import functools

import pytest
import torch

import autograder.desk.check as check_module
from autograder.contract.devices import pick_device
from autograder.desk.check import check


def average_gradients(gradients):
    return torch.stack(gradients).mean(0)


def test_a_right_function_is_reported_as_right():
    verdict = check(average_gradients)
    assert verdict.passed
    assert str(verdict).startswith("average_gradients: 1 of 1 points, right")


def test_the_verdict_on_a_wrong_function_says_what_it_computes():
    def average_gradients(gradients):
        return sum(gradients)

    verdict = check(average_gradients)
    assert [mistake.slug for mistake in verdict.mistakes] == ["no-scale"]


def test_the_same_function_gets_the_same_verdict_and_another_seed_another_problem():
    seen = []

    def average_gradients(gradients):
        seen.append(gradients[0])
        return gradients[0]

    assert str(check(average_gradients)) == str(check(average_gradients))
    check(average_gradients, seed=1)
    runs = len(seen) // 3
    assert torch.equal(seen[0], seen[runs])
    assert not torch.equal(seen[0], seen[2 * runs])


def test_a_function_is_marked_on_one_thread_and_the_student_gets_the_others_back():
    before, seen = torch.get_num_threads(), set()

    def average_gradients(gradients):
        seen.add(torch.get_num_threads())
        return torch.stack(gradients).mean(0)

    torch.set_num_threads(2)
    try:
        check(average_gradients)
        assert seen == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_verdict_is_printed_in_a_script(capsys, monkeypatch):
    monkeypatch.setattr(check_module, "_caller_shows_values", lambda: False)
    check(average_gradients)
    assert "1 of 1 points" in capsys.readouterr().out


def test_nothing_is_printed_where_the_value_is_displayed(capsys, monkeypatch):
    monkeypatch.setattr(check_module, "_caller_shows_values", lambda: True)
    check(average_gradients)
    assert capsys.readouterr().out == ""


class Averager:
    def __call__(self, gradients):
        return sum(gradients) / len(gradients)


def wrapped(function):
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


@pytest.mark.parametrize(
    "value",
    [
        Averager(),
        wrapped(average_gradients),
        functools.partial(average_gradients),
        lambda gradients: average_gradients(gradients),
    ],
)
def test_a_callable_with_another_name_goes_by_the_callers_name_for_it(value):
    namespace = {"check": check, "average_gradients": value}
    exec("verdict = check(average_gradients)", namespace)
    assert namespace["verdict"].passed


@pytest.mark.parametrize("value", [None, 3, "train_epoch", [average_gradients], torch.ones(2)])
def test_a_value_that_is_not_callable_is_refused_with_an_example(value):
    with pytest.raises(TypeError, match=r"as in check\(train_epoch\), not"):
        check(value)


def test_a_function_of_no_exercise_is_refused_with_the_existing_names():
    def my_loop():
        pass

    with pytest.raises(ValueError, match=r"no exercise is called 'my_loop'; there are .*train_epoch"):
        check(my_loop)


def test_an_unknown_device_is_refused():
    with pytest.raises(ValueError, match="unknown device 'tpu'; choose one of auto, cpu, cuda"):
        check(average_gradients, device="tpu")


def test_a_device_is_picked(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pick_device("auto") == pick_device("cpu") == "cpu"
    with pytest.raises(ValueError, match="finds no CUDA device"):
        pick_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device("auto") == pick_device("cuda") == "cuda"
    assert pick_device("cpu") == "cpu"
