from __future__ import annotations

import os
import threading

import pytest
import torch

from gradaccum.threads import one_thread


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_one_thread_is_used_inside_the_block_and_the_former_number_afterwards():
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_the_number_of_threads_is_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert torch.get_num_threads() == 2


def test_another_thread_waits_for_its_turn():
    order: list[str] = []

    def other() -> None:
        with one_thread():
            order.append("other")

    with one_thread():
        waiting = threading.Thread(target=other)
        waiting.start()
        waiting.join(0.2)
        order.append("this")
    waiting.join()
    assert order == ["this", "other"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
def test_a_fork_does_not_wait_for_a_thread_that_it_does_not_have():
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with one_thread():
            held.set()
            done.wait()

    holding = threading.Thread(target=hold)
    holding.start()
    held.wait()
    child = os.fork()
    if not child:
        with one_thread():
            os._exit(7)
    done.set()
    holding.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
