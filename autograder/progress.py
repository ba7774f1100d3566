"""A student's own results: which exercises of the notebooks in a folder are solved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import autograder.exercises  # noqa: F401 - registers them
from autograder.devices import pick_device
from autograder.exercise import Verdict, exercises_of
from autograder.marking import mark_file
from autograder.submissions import SubmissionError
from autograder.units import UNITS


@dataclass(frozen=True)
class UnitProgress:
    """One unit: its verdicts, or why there are none."""

    unit: str
    verdicts: tuple[Verdict, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Progress:
    """The results of all units that were found; a table in a notebook, plain lines elsewhere."""

    units: tuple[UnitProgress, ...]

    def __str__(self) -> str:
        return "\n".join(f"{name:<36}{said}" for name, said in self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        rows = (
            f'<tr><td style="text-align:left;{_WEIGHT[name[0] != " "]}">{escape(name).replace("  ", "&emsp;")}</td>'
            f'<td style="text-align:left;{_WEIGHT[name[0] != " "]}">{escape(said)}</td></tr>'
            for name, said in self._lines()
        )
        return {"text/html": f"<table><tbody>{''.join(rows)}</tbody></table>", "text/plain": str(self)}

    def _lines(self) -> Iterator[tuple[str, str]]:
        """A name and what there is to say of it; names of exercises are indented."""
        if not self.units:
            yield "no results", "there is no notebook of the course's units in this folder"
            return
        for one in self.units:
            yield one.unit, one.problem or _points(one.verdicts)
            for verdict in one.verdicts:
                yield f"  {verdict.exercise}", f"{_sign(verdict)} {_points([verdict])}"
        yield "together", _points([verdict for one in self.units for verdict in one.verdicts])


_WEIGHT = {True: "font-weight:600", False: ""}


def show_progress(folder: str | Path = ".") -> Progress:
    """Mark the notebooks of the course in a folder, as they were last saved. Takes a few seconds for each.

    In a class every notebook has a folder of its own; then the folders beside this one are looked through.
    """
    return Progress(tuple(_progress(unit, path) for unit, path in _notebooks(Path(folder).resolve())))


def _notebooks(folder: Path) -> Iterator[tuple[str, Path]]:
    for unit in UNITS:
        if any(exercise.graded for exercise in exercises_of(unit)):
            places = (folder / f"{unit}.ipynb", folder.parent / unit / f"{unit}.ipynb")
            yield from ((unit, path) for path in [next(filter(Path.is_file, places), None)] if path)


def _progress(unit: str, path: Path) -> UnitProgress:
    try:
        return UnitProgress(unit, mark_file(path, device=pick_device()).verdicts)
    except SubmissionError as error:
        return UnitProgress(unit, problem=str(error))


def _points(verdicts) -> str:
    score, most = sum(verdict.score for verdict in verdicts), sum(verdict.max_score for verdict in verdicts)
    return f"{score:g} of {most:g} points"


def _sign(verdict: Verdict) -> str:
    if verdict.passed:
        return "✓"
    return "○" if verdict.failure and verdict.failure.kind == "unwritten" else "✗"
