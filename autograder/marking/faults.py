"""Faults of the marker. Whatever raises while we mark an exercise leaves it unmarked, which is not the same as no points."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path

from autograder.contract.verdict import Fault, Verdict
from autograder.support.error_log import log_error
from autograder.support.one_line import one_line

MAX_TRACEBACK = 20_000
"""Characters of a traceback that are kept."""


def fault_of(error: BaseException) -> Fault:
    """The fault that an exception is. Its own message is only in the traceback: it may hold numbers of hidden problems."""
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f"{Path(f.filename).name}, line {f.lineno}" for f in reversed(frames) if "autograder" in f.filename), "")
    text = "".join(traceback.format_exception(error))[-MAX_TRACEBACK:]
    return Fault(one_line(type(error).__name__ + (f" in {place}" if place else "")), text)


def logged(verdict: Verdict) -> Verdict:
    """The verdict; if it is none because of a fault, one that names the log that the fault was written to."""
    if verdict.fault is None or verdict.fault.log:
        return verdict
    log = log_error(f"{verdict.unit}, {verdict.exercise}: unmarked\n{verdict.fault.traceback}")
    return replace(verdict, fault=replace(verdict.fault, log=str(log or "")))
