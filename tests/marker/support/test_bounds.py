"""Bounds on the time and memory of our own code."""

from __future__ import annotations

import resource
import threading
import time

import pytest
import torch

from autograder.support.bounds import TimeBoundError, bounded

GIGABYTE = 2**30


def spin():
    while True:
        try:
            sum(range(1000))
        except Exception:
            raise AssertionError("an exception that a handler could swallow") from None


def times_out() -> bool:
    try:
        with bounded(0.05, GIGABYTE):
            spin()
    except TimeBoundError:
        return True
    return False


def test_block_that_takes_too_long_is_ended():
    assert times_out()


def test_block_in_another_thread_is_ended_too():
    ended = []
    thread = threading.Thread(target=lambda: ended.append(times_out()))
    thread.start()
    thread.join()
    assert ended == [True]


def test_nothing_is_raised_after_a_block_that_ended_in_time():
    for _ in range(5):
        with bounded(0.05, GIGABYTE):
            pass
    end = time.thread_time() + 0.2
    while time.thread_time() < end:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("take", [lambda: bytearray(GIGABYTE), lambda: torch.zeros(GIGABYTE // 4)])
def test_block_gets_no_more_memory_than_the_bound_and_the_process_does_afterwards(take):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises((MemoryError, RuntimeError)), bounded(10, GIGABYTE // 4):
        take()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    take()


def test_limits_are_as_before_when_blocks_of_several_threads_overlap():
    before, meet = resource.getrlimit(resource.RLIMIT_DATA), threading.Barrier(2)

    def enter(first: bool):
        with bounded(10, GIGABYTE):
            meet.wait()
            time.sleep(0 if first else 0.05)

    threads = [threading.Thread(target=enter, args=[first]) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
