"""A student's own results: the best verdict of each exercise so far, in a local file. For the student; marks do not use it."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.contract.verdict import Verdict
from autograder.exercises import all_exercises


@dataclass(frozen=True)
class Result:
    """The best verdict of an exercise so far.

    Attributes:
        score: points.
        passed: whether the function was right.
        tries: how many verdicts there were, not counting those on a function that was not written yet.
    """

    score: float
    passed: bool
    tries: int


def results_file() -> Path:
    """The file of results: in the home folder, or the one that the environment variable ``GRADACCUM_RESULTS`` names."""
    named = os.environ.get("GRADACCUM_RESULTS")
    return Path(named) if named else Path.home() / ".gradaccum" / "results.json"


def results() -> dict[str, Result]:
    """Results by exercise id; empty if the file is missing or damaged."""
    try:
        content = json.loads(results_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = content if isinstance(content, dict) else {}
    found = {name: _result(entries[name]) for name in all_exercises() if name in entries}
    return {name: result for name, result in found.items() if result}


def remember(verdict: Verdict) -> None:
    """Add a verdict to the results. If the file cannot be written, nothing is remembered and no error is raised.

    Nothing is remembered either where a grader runs the notebook, or of a function that was not written yet or is unmarked.
    """
    not_written = verdict.failure is not None and verdict.failure.kind in ("unwritten", "missing")
    if not_written or verdict.score is None or "NBGRADER_EXECUTION" in os.environ:
        return
    known = results()
    before = known.get(verdict.exercise, Result(0.0, False, 0))
    score, passed = max(before.score, verdict.score), before.passed or verdict.passed
    with contextlib.suppress(OSError):
        _write(known | {verdict.exercise: Result(score, passed, before.tries + 1)})


def forget() -> None:
    """Remove all results.

    Raises:
        OSError: the file cannot be removed.
    """
    results_file().unlink(missing_ok=True)


def _write(known: Mapping[str, Result]) -> None:
    """Write the file in one go. An existing one that cannot be read is kept under another name, so that it can be repaired."""
    file = results_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and not _is_readable(file):
        file.replace(file.with_name(f"{file.name}.damaged"))
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps({name: asdict(result) for name, result in known.items()}, indent=1), encoding="utf-8")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_readable(file: Path) -> bool:
    try:
        return isinstance(json.loads(file.read_text(encoding="utf-8")), dict)
    except (ValueError, RecursionError):
        return False


def _result(entry: object) -> Result | None:
    match entry:
        case {"score": int() | float() as score, "passed": bool() as passed, "tries": int() as tries} if math.isfinite(score):
            return Result(float(score), passed, tries)
    return None
