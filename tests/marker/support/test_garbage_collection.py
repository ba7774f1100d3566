"""Garbage collection pauses during imports and ignores the imported objects afterwards."""

from __future__ import annotations

import gc

import pytest

from autograder.support.garbage_collection import no_collections


@pytest.fixture(autouse=True)
def restored_garbage_collection():
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


def test_garbage_collection_is_off_inside_the_block_and_on_afterwards():
    gc.enable()
    with no_collections():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_collection_that_was_off_before_the_block_stays_off():
    gc.disable()
    with no_collections():
        pass
    assert not gc.isenabled()


def test_an_error_inside_the_block_turns_garbage_collection_on_again():
    gc.enable()
    with pytest.raises(ImportError), no_collections():
        raise ImportError
    assert gc.isenabled()


def test_objects_made_inside_the_block_are_never_collected():
    with no_collections():
        made = [{} for _ in range(10)]
        made.append(made)
    assert not any(thing is made for thing in gc.get_objects())
