"""The marks of one submission as Gradescope reads them: ``results.json``.

Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.support.atomic_files import write_atomically

if TYPE_CHECKING:
    from autograder.contract.verdict import Verdict
    from autograder.marking.marker import Marks


def results(marks: Marks) -> dict[str, Any] | None:
    """What ``results.json`` says of a submission: a test for each exercise, with the verdict that its student sees.

    None if an exercise is unmarked: Gradescope knows no test without points. Without the file it says that the autograder
    failed, gives no points, and can run it again.
    """
    if marks.score is None:
        return None
    said = f"{marks.unit}, marked on {marks.device}. Points are partial: an exercise gives them part by part."
    return _document(marks.score, said, [_test(k, verdict) for k, verdict in enumerate(marks.verdicts, 1)])


def results_of_unusable(reason: str, unit: str = "") -> dict[str, Any]:
    """What ``results.json`` says of a submission that cannot be marked: why, and 0, for each exercise if the unit is known."""
    from autograder.exercises import exercises_of

    tests = [
        {"number": str(k), "name": exercise.id, "score": 0.0, "max_score": exercise.max_score, "status": "failed"}
        for k, exercise in enumerate(exercises_of(unit), 1)
    ]
    return _document(0.0, f"Nothing could be marked. {reason}", tests)


def write_results(path: Path, document: dict[str, Any]) -> None:
    """Write ``results.json``, in one go.

    Raises:
        OSError: it cannot be written.
    """
    import json

    write_atomically(path, json.dumps(document, indent=1) + "\n")


def _document(score: float, said: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Standard output, with file names of the machine that marks, is for instructors only, as is Gradescope's default."""
    about_tests = {"test_output_format": "html", "test_name_format": "text", "tests": tests}
    return {"score": score, "output": said, "output_format": "text", "stdout_visibility": "hidden"} | about_tests


def _test(number: int, verdict: Verdict) -> dict[str, Any]:
    from autograder.showing.verdict_html import as_html

    return {
        "number": str(number),
        "name": verdict.exercise,
        "score": verdict.score,
        "max_score": verdict.max_score,
        "status": "passed" if verdict.passed else "failed",
        "output": as_html(verdict, handed_in=True),
        "output_format": "html",
        "visibility": "visible",
    }
