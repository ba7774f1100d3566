"""What calls of a function change for later ones is found wherever it is kept, said with what is wrong, and costs nothing."""

from __future__ import annotations

import functools
from collections import Counter, deque

import pytest
import torch

from autograder.contract.observation import Observation
from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function
from autograder.observing.kept_between_calls import CHANGES, Keeping
from autograder.observing.trials import observe_trials

LIST: list[int] = []
NESTED: dict[str, list[int]] = {"seen": []}
COUNTED: Counter[int] = Counter()
LAST = deque([0], maxlen=1)
SUM = torch.zeros(1)
NUMBER = 0
FIXED = [1, 2, 3]


def default(x, seen=[]):  # noqa: B006
    seen.append(x)


def keyword(x, *, seen={}):  # noqa: B006
    seen[len(seen)] = x


def attribute(x):
    attribute.last = x


def number(x):
    global NUMBER
    NUMBER += 1


@functools.cache
def remembering(x):
    return x


class Shared:
    seen: list[int] = []  # noqa: RUF012

    def __init__(self, x=0):
        self.seen.append(x)


def inside(x=0):
    kept: list[int] = []

    def call(x):
        kept.append(x)

    return call


KEPT = {
    "the default value of the argument 'seen'": [default, lambda x: default(x), keyword],
    "an attribute of attribute": [attribute],
    "NUMBER, which is defined outside of number": [number],
    "what remembering remembers of its calls": [remembering],
    "seen, which all objects of a class share": [Shared, lambda x: Shared(x)],
    "kept, which is defined outside of call": [inside()],
    "LIST, which is defined outside of <lambda>": [lambda x: LIST.append(x)],
    "NESTED, which is defined outside of <lambda>": [lambda x: NESTED["seen"].append(x)],
    "COUNTED, which is defined outside of <lambda>": [lambda x: COUNTED.update([x])],
    "LAST, which is defined outside of <lambda>": [lambda x: LAST.append(x)],
    "SUM, which is defined outside of <lambda>": [lambda x: SUM.add_(x)],
}


def call(function, trial):
    function(trial)
    return Observation()


def kept(function, times=3):
    return [seen.kept for seen in observe_trials(call, function, {str(k): k for k in range(times)}).values()]


@pytest.mark.parametrize(("what", "function"), [(what, one) for what, several in KEPT.items() for one in several])
def test_what_calls_change_is_said_from_the_first_that_does(what, function):
    assert kept(function)[-1] == CHANGES.format(what)


@pytest.mark.parametrize("function", [abs, torch.nn.Identity(), lambda x: FIXED[0] + x, lambda x: [*FIXED, x], complex])
def test_a_function_that_keeps_nothing_is_not_said_to(function):
    assert not any(kept(function))


class Hostile(dict):
    __class__ = property(lambda self: 1 / 0)
    __iter__ = __eq__ = __len__ = __hash__ = keys = values = items = lambda self, *_: 1 / 0


def test_nothing_of_what_is_kept_is_called():
    hostile = Hostile(a=1)
    observer = Keeping(lambda x: dict.__setitem__(hostile, "b", x)).noted(call)
    assert observer(lambda x: dict.__setitem__(hostile, "b", x), 3).kept.startswith("Your code changes hostile, ")


def test_it_is_said_with_what_is_wrong_and_costs_nothing():
    calls: list[int] = []

    def counting(lr, accumulation_steps):
        calls.append(1)
        return lr / accumulation_steps

    def growing(lr, accumulation_steps):
        calls.append(1)
        return lr / len(calls)

    exercise = all_exercises()["sum_form_lr"]
    assert mark_function(exercise, counting).passed
    assert not mark_function(exercise, counting).remark
    assert mark_function(exercise, growing).remark.startswith(CHANGES.format("calls, which is defined outside of growing"))
