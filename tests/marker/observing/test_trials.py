"""What becomes of a function that raises NotImplementedError in some trials."""

import pytest

from autograder.contract.observation import Observation
from autograder.observing.trials import observe_trials


@pytest.fixture
def observed():
    """Of a function that is written for some of the numbers 1 to 3, by these numbers."""

    def observe(*written):
        def function(number):
            if number not in written:
                raise NotImplementedError
            return Observation(facts={"number": number})

        return observe_trials(lambda function, number: function(number), function, {"1": 1, "2": 2, "3": 3})

    return observe


def test_a_function_that_is_not_implemented_in_its_first_trial_is_not_written(observed):
    assert {seen.failure.kind for seen in observed().values()} == {"unwritten"}


def test_a_function_that_is_not_implemented_in_a_later_trial_has_raised_an_error(observed):
    failures = [seen.failure for seen in observed(1, 3).values()]
    assert failures[0] is failures[2] is None
    assert (failures[1].kind, failures[1].message) == ("raised", "Your code raised NotImplementedError.")
