"""Points of each exercise for GitHub Classroom, from what ``gradaccum check --json`` printed.

A step of a GitHub workflow runs ``python -P -m autograder.github_classroom marks.json``. It puts a table on the run's page, and
the output ``result``, as ``education/autograding-grading-reporter`` reads it: Base64 of one JSON document, whose tests have a
name, a status and points, and which has the points to be had in total.
Source: https://github.com/classroom-resources/autograding-grading-reporter, ``src``.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def reporter_result(marked: dict[str, Any]) -> dict[str, Any]:
    """The reporter's document for one file of ``gradaccum check --json``."""
    tests = [
        {
            "name": one["id"],
            "status": "pass" if one["passed"] else "fail",
            "score": one["score"],
            "message": f"{one['score']:g} of {one['max_score']:g} points. {_explanation(one)}".strip(),
            "test_code": "",
            "filename": "",
            "line_no": 0,
            "duration": 0,
        }
        for one in marked["exercises"]
    ]
    status = "pass" if all(one["passed"] for one in marked["exercises"]) else "fail"
    return {"version": 1, "status": status, "max_score": marked["max_score"], "tests": tests}


def summary(marked: dict[str, Any]) -> str:
    """A table in Markdown: exercises, their points, and what they compute instead."""
    points = "unmarked" if marked["score"] is None else f"{marked['score']:g} of {marked['max_score']:g} points"
    lines = [f"### {marked['unit']}: {points}", ""]
    lines += ["| | exercise | points | what it does |", "|---|---|---|---|"]
    for one in marked["exercises"]:
        if one["score"] is None:
            lines.append(f"| ❔ | `{one['id']}` | –/{one['max_score']:g} | {one['reason'].replace('|', chr(92) + '|')} |")
            continue
        explanation = (_explanation(one) or ("right" if one["passed"] else "not there yet")).replace("|", "\\|")
        lines.append(
            f"| {'✅' if one['passed'] else '❌'} | `{one['id']}` | {one['score']:g}/{one['max_score']:g} | {explanation} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Report the file of marks that the command line, or ``arguments``, names to the workflow that runs this.

    If an exercise is unmarked there is no ``result``, since that would have to say 0, and the step fails.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: it holds no marks, or an exercise in it is unmarked.
    """
    (path,) = map(Path, sys.argv[1:] if arguments is None else arguments)
    files = json.loads(path.read_text(encoding="utf-8"))["files"]
    if len(files) != 1:
        raise ValueError(f"{path}: holds the marks of {len(files)} files, not of one")
    _append("GITHUB_STEP_SUMMARY", summary(files[0]))
    if unmarked := [one["id"] for one in files[0]["exercises"] if one["score"] is None]:
        raise ValueError(f"{path}: {', '.join(unmarked)} unmarked by a fault of the marker; run this job again")
    encoded = base64.b64encode(json.dumps(reporter_result(files[0])).encode()).decode()
    _append("GITHUB_OUTPUT", f"result={encoded}\n")


def _explanation(exercise: dict[str, Any]) -> str:
    return " ".join(mistake["message"] for mistake in exercise["mistakes"])


def _append(variable: str, text: str) -> None:
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
