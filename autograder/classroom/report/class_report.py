"""What a class can do and what it misunderstood, computed from its marks: plain data, ready to be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median

from autograder.classroom.report.data import ClassData
from autograder.classroom.report.lessons import Lesson, lesson_of
from autograder.classroom.report.student import ABSENT, STATES, UNREADABLE, WAITING, Result, StudentReport, reasons, result_of
from autograder.classroom.students import Student


@dataclass(frozen=True)
class ExerciseReport:
    """One exercise: how many students are in each state, mean points of those marked, and the most common mistakes."""

    unit: str
    exercise: str
    max_points: float
    states: Mapping[str, int]
    mean: float
    mistakes: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class UnitReport:
    """One unit: the shares of points of those marked, in order, and how many are absent or wait."""

    unit: str
    max_points: float
    exercises: tuple[ExerciseReport, ...]
    shares: tuple[float, ...]
    absent: int
    waiting: int


@dataclass(frozen=True)
class MistakeReport:
    """A mistake of the class.

    Attributes:
        slug, sentence: its name, and what students are told.
        students: how many made it.
        lost: points that it cost; those of an exercise with several mistakes are shared among them.
        exercises: (exercise, students), the most frequent first.
        lesson: what shows it.
        example: two fingerprints as HTML, due and found, of somebody's loop, or nothing.
        example_mistakes: all mistakes of that loop.
    """

    slug: str
    sentence: str
    students: int
    lost: float
    exercises: tuple[tuple[str, int], ...]
    lesson: Lesson
    example: tuple[str, ...]
    example_mistakes: tuple[str, ...]


@dataclass(frozen=True)
class Revisit:
    """A section to go through again.

    Attributes:
        lesson: where it is.
        lost: points that it could have saved.
        students: how many lost them.
        causes: (slug of a mistake or id of an exercise, what else was wrong with that exercise, students).
    """

    lesson: Lesson
    lost: float
    students: int
    causes: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class ClassReport:
    """All of it. Students are in the order of their names, mistakes and sections to revisit by points lost."""

    name: str
    students: tuple[StudentReport, ...]
    units: tuple[UnitReport, ...]
    mistakes: tuple[MistakeReport, ...]
    revisits: tuple[Revisit, ...]
    warnings: tuple[str, ...]

    @property
    def needing_help(self) -> tuple[StudentReport, ...]:
        """The students with a reason to be helped, those with the smallest share of points first."""
        return tuple(sorted((s for s in self.students if s.reasons), key=lambda s: (s.share, s.person.sort_key)))

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of all points of each student who has marks."""
        return tuple(sorted(student.share for student in self.students if student.marked))


def class_report(data: ClassData) -> ClassReport:
    """Count, rank and attribute. Nothing is read and nothing is written here."""
    marks = {(one.student, one.unit): one for one in data.marks}
    columns = _columns(data)
    students = []
    for person in _people(data):
        results = tuple(result_of(data, marks.get((person.id, u)), person.id, u, e, most) for u, e, most in columns)
        penalty = sum(points for (student, _), points in data.penalties.items() if student == person.id)
        student = StudentReport(person, results, penalty)
        students.append(replace(student, reasons=tuple(reasons(student))))
    units = tuple(_unit(students, unit, data.penalties) for unit in dict.fromkeys(unit for unit, _, _ in columns))
    return ClassReport(data.name, tuple(students), units, _mistakes(students, data), _revisits(students), data.warnings)


def _people(data: ClassData) -> list[Student]:
    known = {person.id: person for person in data.people}
    marked = (one.student for one in data.marks)
    ids = {*known, *marked, *(student for student, _ in data.handed_in), *(student for student, _, _ in data.grades)}
    return sorted((known.get(student, Student(student)) for student in ids), key=lambda person: person.sort_key)


def _columns(data: ClassData) -> list[tuple[str, str, float]]:
    """(unit, exercise, points) of every exercise of every unit that somebody has handed in or has marks for.

    Where the gradebook knows a unit its graded cells decide, since an instructor may add some and change points.
    """
    from autograder.exercises import all_exercises, exercises_of

    units = {one.unit for one in data.marks} | {unit for _, unit in data.handed_in} | {unit for _, unit, _ in data.grades}
    columns = []
    for unit in sorted(units):
        graded = {exercise.id: exercise.max_score for exercise in exercises_of(unit) if exercise.graded}
        cells = data.cells.get(unit) or graded
        places = {exercise: place for place, exercise in enumerate(all_exercises())}
        names = sorted(cells, key=lambda name: (places.get(name, len(places)), name))
        columns += [(unit, name, cells[name]) for name in names if cells[name]]
    return columns


def _unit(students: list[StudentReport], unit: str, penalties: Mapping[tuple[str, str], float]) -> UnitReport:
    rows = [[result for result in student.results if result.unit == unit] for student in students]
    most = sum(result.max_points for result in rows[0])
    marked = [(s, row) for s, row in zip(students, rows, strict=True) if any(r.state not in (ABSENT, WAITING) for r in row)]
    points = (max(0.0, sum(r.points for r in row) - penalties.get((s.person.id, unit), 0.0)) for s, row in marked)
    states = [{result.state for result in row} for row in rows]
    return UnitReport(
        unit,
        most,
        tuple(_exercise(list(results)) for results in zip(*rows, strict=True)),
        tuple(sorted(one / most for one in points)),
        sum(found == {ABSENT} for found in states),
        sum(WAITING in found for found in states),
    )


def _exercise(results: list[Result]) -> ExerciseReport:
    states = Counter(result.state for result in results)
    marked = [result.points for result in results if result.state not in (ABSENT, WAITING)]
    mistakes = Counter(slug for result in results for slug in result.mistakes)
    return ExerciseReport(
        results[0].unit,
        results[0].exercise,
        results[0].max_points,
        {state: states[state] for state in STATES},
        sum(marked) / len(marked) if marked else 0.0,
        tuple(sorted(mistakes.items(), key=lambda item: (-item[1], item[0]))),
    )


def _mistakes(students: list[StudentReport], data: ClassData) -> tuple[MistakeReport, ...]:
    """The mistakes made, those first that cost most."""
    from gradaccum.diagnosis.catalogue import CATALOGUE

    sentences = {mistake.slug: mistake.message for m in data.marks for e in m.exercises for mistake in e.mistakes}
    sentences |= {slug: mistake.message for slug, mistake in CATALOGUE.items()}
    examples = _examples(data)
    reports = []
    made = [(s.person.id, result, slug) for s in students for result in s.results for slug in result.mistakes]
    for slug in {slug for _, _, slug in made}:
        rows = [(student, result) for student, result, name in made if name == slug]
        exercises = Counter((result.unit, result.exercise) for _, result in rows)
        ranked = sorted(exercises.items(), key=lambda item: (-item[1], item[0]))
        lost = sum(result.lost / len(result.mistakes) for _, result in rows)
        lesson, example = lesson_of(*ranked[0][0], slug), _example([examples.get((slug, e), _NONE) for (_, e), _ in ranked])
        named = tuple((exercise, count) for (_, exercise), count in ranked)
        who = len({student for student, _ in rows})
        reports.append(MistakeReport(slug, sentences[slug], who, lost, named, lesson, *example))
    return tuple(sorted(reports, key=lambda one: (-one.lost, -one.students, one.slug)))


_Example = tuple[tuple[str, ...], tuple[str, ...]]
"""Fingerprints of a loop, and its mistakes."""
_NONE: _Example = ((), ())


def _examples(data: ClassData) -> dict[tuple[str, str], _Example]:
    """For each mistake in each exercise the loop that shows it best: with few other mistakes, and small.

    Whose it is does not matter, so that nothing in the choice points to a student.
    """
    best: dict[tuple[str, str], tuple[tuple, _Example]] = {}
    for exercise in (exercise for one in data.marks for exercise in one.exercises if exercise.fingerprints):
        slugs = tuple(mistake.slug for mistake in exercise.mistakes)
        rank = (len(slugs), sum(map(len, exercise.fingerprints)), exercise.fingerprints)
        for slug in slugs:
            if (slug, exercise.id) not in best or rank < best[slug, exercise.id][0]:
                best[slug, exercise.id] = (rank, (exercise.fingerprints, slugs))
    return {key: example for key, (_, example) in best.items()}


def _example(examples: list[_Example]) -> _Example:
    """The one with the fewest other mistakes; of several the one from the exercise in which most students made it."""
    return min((one for one in examples if one[0]), key=lambda one: len(one[1]), default=_NONE)


def _revisits(students: list[StudentReport]) -> tuple[Revisit, ...]:
    """Sections of the course by the points that their mistakes cost. What was not handed in or read says nothing of them."""
    lost: Counter[Lesson] = Counter()
    who: dict[Lesson, set[str]] = {}
    causes: dict[Lesson, dict[tuple[str, str], set[str]]] = {}
    for student in students:
        for result in student.results:
            for cause in result.causes if result.state not in (ABSENT, WAITING) and UNREADABLE not in result.causes else ():
                lesson = lesson_of(result.unit, result.exercise, cause)
                said = (cause, "") if cause in result.mistakes else (result.exercise, cause)
                lost[lesson] += result.lost / len(result.causes)
                who.setdefault(lesson, set()).add(student.person.id)
                causes.setdefault(lesson, {}).setdefault(said, set()).add(student.person.id)
    return tuple(
        Revisit(lesson, points, len(who[lesson]), _ranked(causes[lesson]))
        for lesson, points in sorted(lost.items(), key=lambda item: (-round(item[1], 6), item[0].unit, item[0].heading))
    )


def _ranked(causes: Mapping[tuple[str, str], set[str]]) -> tuple[tuple[str, str, int], ...]:
    return tuple(sorted(((*cause, len(who)) for cause, who in causes.items()), key=lambda one: (-one[2], one[:2])))


def middle(shares: tuple[float, ...]) -> float:
    """The median, and 0 for nobody."""
    return median(shares) if shares else 0.0
