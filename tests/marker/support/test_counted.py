"""Numbers with their nouns."""

from autograder.support.counted import counted


def test_one_of_a_thing_is_in_the_singular():
    assert (counted(1, "page"), counted(2, "page")) == ("1 page", "2 pages")
