"""What a submission may use."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.contract.observation import TRIAL_SECONDS


@dataclass(frozen=True)
class Limits:
    """What a submission may use; seconds as :func:`autograder.observing.student_calls.stopwatch` counts them.

    Attributes:
        statement: seconds for one definition or import; any other statement outside of functions has no more than ``trial``.
        load: seconds for all of them; after it only definitions and imports are still run.
        trial: seconds for a function on one trial.
        grace: additional seconds, by the clock, before a process that ignores the other limits is ended.
        whole: seconds for the whole submission, with all the processes it needs.
        memory: bytes of data of a process that marks on the CPU; in a sandbox also of all its processes together.
        processes: processes and threads at a time, in a sandbox.
        disk: bytes of files, in a sandbox.
    """

    statement: float = 10.0
    load: float = 120.0
    trial: float = TRIAL_SECONDS
    grace: float = 5.0
    whole: float = 900.0
    memory: int = 6 * 2**30
    processes: int = 64
    disk: int = 64 * 2**20
