"""What marking has brought so far: a file for each student and unit, in ``marks/`` of the class.

The gradebook knows points only. These files also know why, and from which bytes and settings: marking looks here for what it
need not do again, reports and exports look here for mistakes and fingerprints. Nothing in here needs torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.support.atomic_files import write_atomically

if TYPE_CHECKING:
    from autograder.contract.verdict import Verdict
    from autograder.marking.marker import Marks


FORMAT = 1
"""Goes up when what these files hold changes. Files of another format count as damaged: their submissions are marked again."""


class DamagedMarksError(ValueError):
    """A file of marks that cannot be read. The message says which, and why."""


@dataclass(frozen=True)
class PartMarks:
    """One part of an exercise: what it gives points for, how many, and what was missing."""

    name: str
    title: str
    points: float
    max_points: float
    message: str


@dataclass(frozen=True)
class MistakeMarks:
    """A mistake that was named, and the sentence it was named with."""

    slug: str
    message: str


@dataclass(frozen=True)
class ExerciseMarks:
    """The marks of one exercise.

    Attributes:
        id: of the exercise.
        parts: what it gives points for.
        mistakes: those named, the simplest explanation first.
        failure: why the function returned nothing, a kind of :class:`autograder.contract.observation.Failure`; else empty.
        remark: a sentence on what no catalogued mistake explains.
        fingerprints: two HTML tables, the one that is due and the one found, numbers only; empty if there are none to show.
    """

    id: str
    parts: tuple[PartMarks, ...]
    mistakes: tuple[MistakeMarks, ...] = ()
    failure: str = ""
    remark: str = ""
    fingerprints: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return float(sum(part.points for part in self.parts))

    @property
    def max_score(self) -> float:
        return float(sum(part.max_points for part in self.parts))

    @property
    def passed(self) -> bool:
        return all(part.points == part.max_points for part in self.parts)


@dataclass(frozen=True)
class StudentMarks:
    """The marks of one student's submission to one unit.

    Attributes:
        student, unit: ids.
        key: stands for the bytes that were marked and everything else that marks depend on.
        device: what it was marked on.
        seconds: how long that took, by the clock.
        exercises: in order.
        problem: why the file could not be read; empty if it could.
    """

    student: str
    unit: str
    key: str
    device: str
    seconds: float
    exercises: tuple[ExerciseMarks, ...]
    problem: str = ""

    @property
    def score(self) -> float:
        return float(sum(exercise.score for exercise in self.exercises))

    @property
    def max_score(self) -> float:
        return float(sum(exercise.max_score for exercise in self.exercises))

    def as_json(self) -> str:
        return json.dumps({"format": FORMAT} | asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> StudentMarks:
        """Read what :meth:`as_json` wrote.

        Raises:
            DamagedMarksError: it is not that.
        """
        try:
            content = json.loads(text)
            if content.pop("format") != FORMAT:
                raise DamagedMarksError("written by another version")
            exercises = tuple(_exercise(one) for one in content.pop("exercises"))
            return _sound(cls(exercises=exercises, **content))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise DamagedMarksError(str(error) or type(error).__name__) from None


class MarksStore:
    """The marks of a class. ``marks/STUDENT/UNIT.json`` holds them, ``UNIT.ipynb`` beside it the notebook with its verdicts.

    Args:
        directory: of the class.
    """

    def __init__(self, directory: Path):
        self.folder = directory / "marks"

    def path(self, student: str, unit: str) -> Path:
        return self.folder / student / f"{unit}.json"

    def notebook_path(self, student: str, unit: str) -> Path:
        return self.path(student, unit).with_suffix(".ipynb")

    def write(self, marks: StudentMarks, notebook: str) -> None:
        """Keep the marks of a submission and its notebook, in place of earlier ones. Marks come last: they vouch for both.

        Raises:
            OSError: they cannot be written; what was there is still there.
        """
        write_atomically(self.notebook_path(marks.student, marks.unit), notebook)
        write_atomically(self.path(marks.student, marks.unit), marks.as_json())

    def read(self, student: str, unit: str) -> StudentMarks | None:
        """The marks of a student's unit; None if it has not been marked.

        Raises:
            DamagedMarksError: the file is damaged.
        """
        path = self.path(student, unit)
        try:
            marks = StudentMarks.from_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise DamagedMarksError(f"{path}: {error}; delete it and grade again") from None
        if (marks.student, marks.unit) != (student, unit):
            raise DamagedMarksError(f"{path}: holds the marks of {marks.student}, {marks.unit}; delete it and grade again")
        return marks

    def units(self) -> list[str]:
        """The units that somebody has marks for, in order."""
        return sorted({path.stem for path in self.folder.glob("*/*.json")})

    def all(self) -> Iterator[StudentMarks]:
        """All marks, by student and unit.

        Raises:
            DamagedMarksError: a file is damaged.
        """
        for path in sorted(self.folder.glob("*/*.json")):
            if marks := self.read(path.parent.name, path.stem):
                yield marks


def student_marks(student: str, key: str, seconds: float, marks: Marks, problem: str = "") -> StudentMarks:
    """What is kept of the marks of a submission."""
    exercises = tuple(_kept(verdict) for verdict in marks.verdicts)
    return StudentMarks(student, marks.unit, key, marks.device, seconds, exercises, problem)


def _kept(verdict: Verdict) -> ExerciseMarks:
    from autograder.showing.fingerprint_tables import fingerprint_tables

    tables = () if verdict.found is None else fingerprint_tables(verdict.expected, verdict.found)
    return ExerciseMarks(
        verdict.exercise,
        tuple(PartMarks(r.part.name, r.part.title, r.points, r.part.points, r.message) for r in verdict.results),
        tuple(MistakeMarks(mistake.slug, mistake.message) for mistake in verdict.mistakes),
        verdict.failure.kind if verdict.failure else "",
        verdict.remark,
        tuple(tables),
    )


def _exercise(content: dict[str, Any]) -> ExerciseMarks:
    content["parts"] = tuple(_sound(PartMarks(**part)) for part in content["parts"])
    content["mistakes"] = tuple(_sound(MistakeMarks(**mistake)) for mistake in content["mistakes"])
    content["fingerprints"] = tuple(content["fingerprints"])
    if not all(isinstance(table, str) for table in content["fingerprints"]):
        raise DamagedMarksError("fingerprints are no text")
    return _sound(ExerciseMarks(**content))


def _sound(marks: Any) -> Any:
    """The same, if texts are texts and numbers are numbers.

    Raises:
        DamagedMarksError: they are not.
    """
    for field in fields(marks):
        value = getattr(marks, field.name)
        if field.type == "str" and not isinstance(value, str):
            raise DamagedMarksError(f"{field.name} is no text")
        if field.type == "float" and not (isinstance(value, int | float) and isfinite(value)):
            raise DamagedMarksError(f"{field.name} is no number")
    return marks
