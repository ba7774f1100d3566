"""What is observed in a fork comes back, also if the machine ends the first one."""

from __future__ import annotations

import os
import signal

from autograder.contract.observation import Observation
from autograder.observing.forks import observe_in_fork


def test_a_fork_that_is_killed_is_tried_once_more(tmp_path):
    def observe():
        try:
            (tmp_path / "begun").touch(exist_ok=False)
        except FileExistsError:
            return Observation(facts={"tries": 2})
        os.kill(os.getpid(), signal.SIGKILL)

    assert observe_in_fork(observe).facts == {"tries": 2}


def test_a_fork_that_is_killed_twice_is_a_crash():
    seen = observe_in_fork(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert seen.failure is not None
    assert seen.failure.kind == "died"
