"""Ctrl-C stops a long command, either at once or after the step that swallowed the exception."""

from __future__ import annotations

import signal

import pytest

from autograder.support.interrupts import stoppable


def test_checking_does_nothing_without_ctrl_c():
    with stoppable() as check:
        check()


def test_ctrl_c_raises_at_once():
    with pytest.raises(KeyboardInterrupt), stoppable():
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_that_python_dropped_is_raised_again_after_the_step():
    class Cleanup:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    with stoppable() as check:
        cleanup = Cleanup()
        del cleanup  # Python prints "Exception ignored"
        with pytest.raises(KeyboardInterrupt):
            check()


def test_a_process_told_to_ignore_ctrl_c_ignores_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable() as check:
            signal.raise_signal(signal.SIGINT)
            check()
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_previous_handler_of_ctrl_c_is_restored():
    before = signal.getsignal(signal.SIGINT)
    with stoppable():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
