"""Ctrl-C stops a long command, at once or after the step that swallowed it."""

from __future__ import annotations

import signal

import pytest

from autograder.support.interrupts import stoppable


def test_nothing_happens_without_ctrl_c():
    with stoppable() as check:
        check()


def test_ctrl_c_stops_at_once():
    with pytest.raises(KeyboardInterrupt), stoppable():
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_that_python_dropped_stops_after_the_step():
    class Cleanup:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    with stoppable() as check:
        cleanup = Cleanup()
        del cleanup  # Python says "Exception ignored"
        with pytest.raises(KeyboardInterrupt):
            check()


def test_who_is_told_to_ignore_ctrl_c_does():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable() as check:
            signal.raise_signal(signal.SIGINT)
            check()
    finally:
        signal.signal(signal.SIGINT, before)


def test_afterwards_ctrl_c_is_what_it_was():
    before = signal.getsignal(signal.SIGINT)
    with stoppable():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
