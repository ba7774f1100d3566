"""Schemas: what fits, what does not, and what is said of it."""

from __future__ import annotations

import pytest
import torch

from autograder.contract.observation import Failure, Observation
from autograder.contract.schema import (
    MAX_WHOLE,
    Array,
    DictOf,
    Each,
    Either,
    Form,
    ListOf,
    Maybe,
    NoneOr,
    Number,
    Plain,
    Record,
    Schema,
    Text,
    Truth,
    Whole,
)

NAN, INF = float("nan"), float("inf")
RECORD = Record({"a": Whole(), "b": Maybe(Truth())})


def misfit(fact, value):
    return Form(facts={"fact": fact}).misfit(Observation(facts={"fact": value}))


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        *((Truth(), value) for value in (True, False)),
        *((Whole(), value) for value in (0, 7, MAX_WHOLE)),
        *((Number(), value) for value in (-1, 0.5, NAN, INF, MAX_WHOLE)),
        *((Text(3), value) for value in ("", "abc")),
        *((NoneOr(Whole()), value) for value in (None, 1)),
        *((Either((Text(), Number())), value) for value in ("a", 1.0)),
        *((ListOf(Whole(), (1, 2)), value) for value in ([1], [1, 2])),
        *((DictOf(Whole()), value) for value in ({}, {"a": 1})),
        *((RECORD, value) for value in ({"a": 1}, {"a": 1, "b": True})),
        (Each((Whole(), Text())), [1, "a"]),
        *((Plain(), value) for value in (None, True, 1.5, NAN, "text", [[1], {"a": []}])),
    ],
    ids=str,
)
def test_fitting_fact_has_no_misfit(fact, value):
    assert misfit(fact, value) == ""


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        *((Truth(), value) for value in (0, 1, None, "True", [])),
        *((Whole(), value) for value in (True, -1, 1.0, NAN, "1", None, MAX_WHOLE + 1, 10**400)),
        *((Whole(0, 3), value) for value in (4, -1)),
        *((Number(), value) for value in (True, "1", None, [1], 10**400)),
        *((Text(3), value) for value in ("abcd", 1, None, ["a"])),
        *((NoneOr(Whole()), value) for value in ("", 0.5)),
        *((Either((Text(), Number())), value) for value in (None, True, [])),
        *((ListOf(Whole(), (1, 2)), value) for value in ([], [1, 2, 3], ["a"], "ab", {"a": 1}, None)),
        *((DictOf(Whole(), most=1), value) for value in ({"a": 1, "b": 2}, {"a": "b"}, [], None)),
        *(
            (Record({"a": Whole(), "b": Maybe(Truth())}), value)
            for value in ({}, {"b": True}, {"a": 1, "b": 1}, {"a": 1, "c": 1})
        ),
        *((Each((Whole(), Text())), value) for value in ([], [1], ["a", 1], [1, "a", 1], "1a")),
        *((Plain(), value) for value in (10**400, [10**400], [0] * 20_000, ["a" * 20_000])),
    ],
    ids=lambda value: str(value)[:40],
)
def test_unfitting_fact_has_a_misfit_that_names_it(fact, value):
    assert misfit(fact, value).startswith("'fact' ")


def test_value_that_is_nested_too_deeply_does_not_fit():
    value: list = []
    for _ in range(900):
        value = [value]
    assert "nested" in misfit(Plain(), value)


ROWS = Form(
    {"gradients": Array(("updates", 3)), "movements": Array(("updates", 3))},
    {"epochs": ListOf(Whole(), "updates")},
    {"updates": (0, 5)},
)


def rows(gradients, movements, epochs):
    tensors = {"gradients": torch.zeros(gradients), "movements": torch.zeros(movements)}
    return ROWS.misfit(Observation(tensors, {"epochs": epochs}))


def test_same_name_stands_for_the_same_length():
    assert rows((2, 3), (2, 3), [0, 0]) == ""
    assert rows((2, 3), (1, 3), [0, 0]) == "'movements' tells of 1 updates, something else of 2"
    assert rows((2, 3), (2, 3), [0]) == "'epochs' tells of 1 updates, something else of 2"
    assert rows((9, 3), (9, 3), [0] * 9) == "'gradients' tells of 9 updates; 0 to 5 can be judged"


@pytest.mark.parametrize("shape", [(), (3,), (2, 4), (1, 2, 3)])
def test_tensor_of_another_shape_does_not_fit(shape):
    assert rows(shape, (2, 3), [0, 0])


@pytest.mark.parametrize("shape", [(10**9,), (0, 10**9), (1,) * 20, (400, 400)])
def test_tensor_that_would_be_large_if_it_were_broadcast_does_not_fit_where_any_shape_does(shape):
    one = torch.zeros(1).expand(shape) if 0 not in shape else torch.empty(shape)
    assert "far larger" in Form({"value": Array()}).misfit(Observation({"value": one}))


def test_tensor_of_another_dtype_does_not_fit():
    floats = Form({"value": Array((2,), (torch.float64,))})
    assert floats.misfit(Observation({"value": torch.zeros(2, dtype=torch.int64)}))
    assert not floats.misfit(Observation({"value": torch.zeros(2, dtype=torch.float64)}))


def test_names_that_are_missing_or_should_not_be_there_are_named():
    form = Form({"own/a": Array(), "own/*": Array((2,)), "other": Maybe(Array())}, {"count": Whole()})
    tensors = {"own/a": torch.zeros(7), "own/b": torch.zeros(2)}
    assert form.misfit(Observation(tensors, {"count": 1})) == ""
    assert form.misfit(Observation(tensors)) == "'count' is missing"
    assert form.misfit(Observation({}, {"count": 1})) == "'own/a' is missing"
    assert form.misfit(Observation(tensors | {"b\n" * 99: torch.zeros(2)}, {"count": 1})).endswith(" should not be there")
    assert "'own/c'" in form.misfit(Observation(tensors | {"own/c": torch.zeros(3)}, {"count": 1}))


SCHEMA = Schema((Form(facts={"value": Whole()}), Form(facts={"type": Text()})), (Form(facts={"calls": Whole()}),))


def test_observation_that_fits_one_of_several_forms_is_admitted_as_it_is():
    for facts in ({"value": 1}, {"type": "str"}):
        seen = Observation(facts=facts)
        assert SCHEMA.admitted(seen) is seen


@pytest.mark.parametrize("facts", [{}, {"value": 1, "type": "str"}, {"value": "1"}, {"verdict": 1}])
def test_observation_that_fits_no_form_becomes_a_failure_without_facts(facts):
    admitted = SCHEMA.admitted(Observation({"a": torch.zeros(1)}, facts))
    assert (admitted.failure.kind, admitted.facts, admitted.tensors) == ("misfit", {}, {})
    assert "cannot be judged: '" in admitted.failure.message


def test_failure_keeps_facts_only_if_they_fit():
    failure = Failure("raised", "It raised.")
    for facts, kept in (({}, {}), ({"calls": 1}, {"calls": 1}), ({"calls": -1}, {}), ({"value": 1}, {})):
        admitted = SCHEMA.admitted(Observation(facts=facts, failure=failure))
        assert (admitted.failure, admitted.facts) == (failure, kept)
