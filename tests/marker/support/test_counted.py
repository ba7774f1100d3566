"""Numbers with their nouns, and words in a row."""

from autograder.support.counted import counted, listed


def test_one_of_a_thing_is_in_the_singular():
    assert (counted(1, "page"), counted(2, "page")) == ("1 page", "2 pages")


def test_the_last_of_several_words_follows_an_and():
    assert [listed(words) for words in ("A", "AB", "ABC")] == ["A", "A and B", "A, B and C"]
