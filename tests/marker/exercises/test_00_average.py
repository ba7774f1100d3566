"""What is said of a wrong mean in the practice exercise."""

from __future__ import annotations

from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function


def test_the_share_of_equal_gradients_is_that_of_both_together_and_what_is_due_of_them_is_said():
    def each_object_once(gradients):
        return sum(set(gradients)) / len(gradients)

    verdict = mark_function(all_exercises()["average_gradients"], each_object_once, seed=0)
    assert "1/5 of gradients 1 and 5 together, which are equal (2/5 is due)" in verdict.results[0].message
