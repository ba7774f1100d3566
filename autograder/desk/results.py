"""A student's own results: the best verdict of each exercise so far, in one local file. For the student, not for marks."""

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
        tries: verdicts so far, those on an unwritten function not counted.
    """

    score: float
    passed: bool
    tries: int


def results_file() -> Path:
    """Where results are kept: in the home folder, or where the environment variable ``GRADACCUM_RESULTS`` says."""
    named = os.environ.get("GRADACCUM_RESULTS")
    return Path(named) if named else Path.home() / ".gradaccum" / "results.json"


def results() -> dict[str, Result]:
    """Results by exercise id; none where the file is missing or damaged."""
    try:
        content = json.loads(results_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    found = {name: _result(entry) for name, entry in content.items()} if isinstance(content, dict) else {}
    return {name: found[name] for name in all_exercises() if found.get(name)}


def remember(verdict: Verdict) -> None:
    """Add a verdict to the results. A place that cannot be written costs nobody a verdict: then nothing is remembered.

    Only while somebody works: not where a grader runs the notebook.
    """
    unwritten = verdict.failure is not None and verdict.failure.kind in ("unwritten", "missing")
    if unwritten or "NBGRADER_EXECUTION" in os.environ:
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
    """Write the file at once. One that is there but cannot be read is put aside, for whoever wants to mend it."""
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
