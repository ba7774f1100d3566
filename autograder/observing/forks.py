"""Do a part of a trial in a process of its own, so that nothing it leaves in memory is there afterwards."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import cast

import torch

from autograder.contract.observation import TRIAL_SECONDS, Failure, Observation
from autograder.observing.student_calls import guarded


def observe_in_fork(observe: Callable[[], Observation], seconds: float = TRIAL_SECONDS, seed: int = 0) -> Observation:
    """What ``observe`` returns in a fork of this process, under a limit of its own; a failure if it raises or the fork dies.

    A fork that dies is tried once more, since the machine may have ended it: ``observe`` has to be able to begin again. Where a
    fork cannot compute, on Windows and beside a GPU, it runs in this process.
    """
    if not hasattr(os, "fork") or torch.cuda.is_available():
        return observe()
    for _ in range(2):
        if seen := _answer_of_fork(observe, seconds, seed):
            return seen
    return Observation(failure=Failure("died", "Your code crashed the process it ran in."))


def _answer_of_fork(observe: Callable[[], Observation], seconds: float, seed: int) -> Observation | None:
    """What ``observe`` returns in a fork; None if the fork dies before it has said so."""
    receive, send = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(receive)
            torch.set_num_threads(1)
            answer = pickle.dumps(guarded(observe, seconds, seed))
            with open(send, "wb") as pipe:
                pipe.write(answer)
        finally:
            os._exit(0)
    os.close(send)
    try:
        with open(receive, "rb") as pipe:
            return cast(Observation, pickle.load(pipe))
    except (EOFError, pickle.UnpicklingError):
        return None
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
