"""What is observed of a function that takes and returns plain values."""

from __future__ import annotations

import pytest
import torch

from autograder.observing.calls import CallTrial, observe_call


def centres(vectors):
    for vector in vectors:
        vector -= 1
    return 0


def converts(vectors):
    vectors[:] = [vector.double() for vector in vectors]


@pytest.mark.parametrize("changes", [centres, converts, list.pop, list.clear, lambda values: values.append(1), list.reverse])
def test_a_function_that_changes_its_arguments_has_failed(changes):
    seen = observe_call(changes, CallTrial(([torch.zeros(2), torch.ones(2)],)))
    assert seen.failure.message == "Your function changed the values it was given."


def test_arguments_of_a_trial_are_as_they_were_after_a_function_has_changed_them():
    trial = CallTrial(([torch.zeros(2)],), {"more": [1, 2]})
    observe_call(lambda vectors, more: (centres(vectors), more.pop()), trial)
    assert trial.arguments[0][0].tolist() == [0, 0]
    assert trial.keywords == {"more": [1, 2]}


@pytest.mark.parametrize("argument", [object(), print, [1.5, None, "text"], {"a": (1, [2])}, torch.zeros(2)])
def test_a_function_that_leaves_its_arguments_alone_is_observed(argument):
    assert observe_call(lambda given: 7, CallTrial((argument,))).facts == {"value": 7}
