"""Nothing is collected while something is imported, and what came in is not looked through afterwards."""

from __future__ import annotations

import gc

import pytest

from autograder.support.garbage_collection import no_collections


@pytest.fixture(autouse=True)
def as_before():
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


def test_nothing_is_collected_inside_and_something_is_afterwards():
    gc.enable()
    with no_collections():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_who_switched_collecting_off_finds_it_so():
    gc.disable()
    with no_collections():
        pass
    assert not gc.isenabled()


def test_an_error_inside_switches_it_on_again():
    gc.enable()
    with pytest.raises(ImportError), no_collections():
        raise ImportError
    assert gc.isenabled()


def test_what_was_made_inside_is_not_looked_through_afterwards():
    with no_collections():
        made = [{} for _ in range(10)]
        made.append(made)
    assert not any(thing is made for thing in gc.get_objects())
