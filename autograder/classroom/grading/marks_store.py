"""The marks made so far: a file for each student and unit, in ``marks/`` of the class.

The gradebook holds points only. These files also hold the reasons, and which bytes and settings the marks are for: marking
looks here to see what it need not mark again, and the report looks here for mistakes and fingerprints. Nothing in this module
needs torch.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autograder.support.atomic_files import write_atomically

if TYPE_CHECKING:
    from autograder.contract.verdict import Verdict
    from autograder.marking.marker import Marks

FORMAT = 2
"""Increased when files that were written before can no longer be read. One of another format counts as damaged."""


class DamagedMarksError(ValueError):
    """A file of marks that cannot be read. The message says which file, and why."""


@dataclass(frozen=True)
class PartMarks:
    """One part of an exercise: its title, the points earned and to be earned, and a message if something was missing."""

    name: str
    title: str
    points: float
    max_points: float
    message: str


@dataclass(frozen=True)
class MistakeMarks:
    """A mistake that was found, and the sentence that the student was told."""

    slug: str
    message: str


@dataclass(frozen=True)
class ExerciseMarks:
    """The marks of one exercise.

    Attributes:
        id: of the exercise.
        parts: the parts that give points.
        mistakes: those that were found, the simplest explanation first.
        failure: if the function returned nothing, the kind of :class:`autograder.contract.observation.Failure`; else empty.
        remark: a sentence about results that no catalogued mistake explains.
        fingerprints: two HTML tables of numbers, the expected fingerprint and the one found; empty if there are none.
        unmarked: why there are no marks, which is a fault of the marker; empty if there are.
    """

    id: str
    parts: tuple[PartMarks, ...]
    mistakes: tuple[MistakeMarks, ...] = ()
    failure: str = ""
    remark: str = ""
    fingerprints: tuple[str, ...] = ()
    unmarked: str = ""

    @property
    def score(self) -> float | None:
        """The points; None if the exercise is unmarked."""
        return None if self.unmarked else float(sum(part.points for part in self.parts))

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
        key: a digest of the bytes that were marked and of everything else that marks depend on.
        device: on which it was marked.
        seconds: how long marking took, by the clock.
        exercises: in the order of the unit.
        problem: why the file could not be read; empty if it could.
        seed: chose the hidden problems; ``gradaccum check --seed`` takes it.
        damage: what is wrong with the file and what could be read of it, as a sentence without its subject; else empty.
        digest: of the bytes that were marked; empty in files of earlier versions.
    """

    student: str
    unit: str
    key: str
    device: str
    seconds: float
    exercises: tuple[ExerciseMarks, ...]
    problem: str = ""
    seed: int = 0
    damage: str = ""
    digest: str = ""

    @property
    def score(self) -> float | None:
        """The points of all exercises; None if one of them is unmarked."""
        scores = [exercise.score for exercise in self.exercises if exercise.score is not None]
        return float(sum(scores)) if len(scores) == len(self.exercises) else None

    @property
    def unmarked(self) -> str:
        """Which exercises are unmarked, and why; empty if all are marked."""
        return "; ".join(f"{exercise.id} ({exercise.unmarked})" for exercise in self.exercises if exercise.unmarked)

    @property
    def max_score(self) -> float:
        return float(sum(exercise.max_score for exercise in self.exercises))

    def as_json(self) -> str:
        return json.dumps({"format": FORMAT} | asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> StudentMarks:
        """Read what :meth:`as_json` wrote.

        Raises:
            DamagedMarksError: the text is anything else.
        """
        try:
            content = json.loads(text)
            if content.pop("format") != FORMAT:
                raise DamagedMarksError("written by another version")
            exercises = tuple(_exercise_from(one) for one in content.pop("exercises"))
            return _checked(cls(exercises=exercises, **content))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise DamagedMarksError(str(error) or type(error).__name__) from None


class MarksStore:
    """The marks of a class, in ``marks/STUDENT/UNIT.json``; next to them, ``UNIT.ipynb`` is the notebook with its verdicts.

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
        """Store the marks of a submission and its notebook in place of earlier ones.

        The marks are written last, so where they exist the notebook exists, too.

        Raises:
            OSError: they cannot be written; what was stored before is still there.
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

    def submissions(self) -> list[tuple[str, str]]:
        """The ids of student and unit of all marks that are stored, damaged ones included, in order."""
        return sorted((path.parent.name, path.stem) for path in self.folder.glob("*/*.json"))


def student_marks(
    student: str,
    key: str,
    seconds: float,
    marks: Marks,
    problem: str = "",
    seed: int = 0,
    damage: str = "",
    digest: str = "",
) -> StudentMarks:
    """The marks of a submission in the form in which they are stored."""
    exercises = tuple(_exercise_marks(verdict) for verdict in marks.verdicts)
    return StudentMarks(student, marks.unit, key, marks.device, seconds, exercises, problem, seed, damage, digest)


def _exercise_marks(verdict: Verdict) -> ExerciseMarks:
    from gradaccum.fingerprint_tables import fingerprint_tables

    tables: tuple[str, ...] = ()
    if verdict.expected is not None and verdict.found is not None:
        tables = fingerprint_tables(verdict.expected, verdict.found)
    return ExerciseMarks(
        verdict.exercise,
        tuple(PartMarks(r.part.name, r.part.title, r.points, r.part.points, r.message) for r in verdict.results),
        tuple(MistakeMarks(mistake.slug, mistake.message) for mistake in verdict.mistakes),
        verdict.failure.kind if verdict.failure else "",
        verdict.remark,
        tables,
        verdict.fault.reason if verdict.fault else "",
    )


def _exercise_from(content: dict[str, Any]) -> ExerciseMarks:
    """The marks of an exercise from their JSON.

    Raises:
        DamagedMarksError: a text is not a text, or a number not a number.
    """
    content["parts"] = tuple(_checked(PartMarks(**part)) for part in content["parts"])
    content["mistakes"] = tuple(_checked(MistakeMarks(**mistake)) for mistake in content["mistakes"])
    content["fingerprints"] = tuple(content["fingerprints"])
    if not all(isinstance(table, str) for table in content["fingerprints"]):
        raise DamagedMarksError("fingerprints are no text")
    return _checked(ExerciseMarks(**content))


_Stored = TypeVar("_Stored", PartMarks, MistakeMarks, ExerciseMarks, StudentMarks)


def _checked(marks: _Stored) -> _Stored:
    """The same object, if its texts are texts and its numbers are finite numbers.

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
