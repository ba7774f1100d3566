"""What a class can do and what it misunderstood, computed from its marks as plain data; the page is made elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from autograder.classroom.report.class_data import ClassData
from autograder.classroom.report.discrimination import Discrimination, discriminations
from autograder.classroom.report.examples import NO_EXAMPLE, best_example, examples_of
from autograder.classroom.report.lessons import Lesson, lesson_of
from autograder.classroom.report.student_report import (
    ABSENT,
    STATES,
    UNDECIDED,
    UNJUDGED,
    WAITING,
    Result,
    StudentReport,
    common_mistakes,
    reasons,
    result_of,
)
from autograder.classroom.students import Student


@dataclass(frozen=True)
class ExerciseReport:
    """One exercise in a class.

    Attributes:
        states: how many students are in each of :data:`~autograder.classroom.report.student_report.STATES`.
        mean: the mean points of those marked.
        mistakes: (slug, students), the most frequent first.
        discrimination: how well it tells students apart.
    """

    unit: str
    exercise: str
    max_points: float
    states: Mapping[str, int]
    mean: float
    mistakes: tuple[tuple[str, int], ...]
    discrimination: Discrimination


@dataclass(frozen=True)
class UnitReport:
    """One unit in a class.

    Attributes:
        shares: the share of the points of each student marked, ascending.
        absent: how many students handed in nothing.
        waiting: how many submissions are not marked yet.
    """

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
        lost: points that it cost; the points of an exercise with several mistakes are divided equally among them.
        exercises: (exercise, students), the most frequent first.
        lesson: the section of the course that shows it.
        example: the expected fingerprint and the one found, as HTML, of one student's loop; empty if there is none to show.
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
        lesson: the section.
        lost: the points lost to what it teaches.
        students: how many lost them.
        causes: (slug, "", students) for a mistake, (exercise, cause, students) where no mistake was found.
    """

    lesson: Lesson
    lost: float
    students: int
    causes: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class Unjudged:
    """Exercises of which there was nothing to judge, so that they say nothing about what was understood.

    Attributes:
        lost: the points lost there.
        causes: why, and in how many answers, the most frequent first.
    """

    lost: float
    causes: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ClassReport:
    """The whole report. Students are ordered by name, mistakes and sections to revisit by the points lost.

    Attributes:
        moment: as of when, in UTC; None for when it was made.
        untimed: how many submissions count because it is not known when they were handed in; 0 if there is no moment.
        dropped: exercises that do not count.
    """

    name: str
    students: tuple[StudentReport, ...]
    units: tuple[UnitReport, ...]
    mistakes: tuple[MistakeReport, ...]
    revisits: tuple[Revisit, ...]
    unjudged: Unjudged
    warnings: tuple[str, ...]
    moment: datetime | None = None
    untimed: int = 0
    dropped: tuple[str, ...] = ()

    @property
    def needing_help(self) -> tuple[StudentReport, ...]:
        """The students who need help, those with the smallest share of points first."""
        return tuple(sorted((s for s in self.students if s.reasons), key=lambda s: (s.share, s.person.sort_key)))

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of all points of each student who has marks, ascending."""
        return tuple(sorted(student.share for student in self.students if student.marked))


def class_report(data: ClassData) -> ClassReport:
    """The report on a class. Pure: reads and writes no files."""
    marks = {(one.student, one.unit): one for one in data.marks}
    columns = _columns(data)
    students = []
    for person in _people(data):
        results = tuple(
            result_of(data, marks.get((person.id, unit)), person.id, unit, exercise, max_points)
            for unit, exercise, max_points in columns
        )
        penalty = sum(points for (student, _), points in data.penalties.items() if student == person.id)
        damaged = tuple(one.unit for one in data.marks if one.student == person.id and one.damage)
        students.append(StudentReport(person, results, penalty, damaged))
    common = common_mistakes(students)
    students = [replace(student, reasons=tuple(reasons(student, common))) for student in students]
    tells = {(unit, exercise): one for (unit, exercise, _), one in zip(columns, discriminations(students), strict=False)}
    units = tuple(_unit(students, unit, data.penalties, tells) for unit in dict.fromkeys(unit for unit, _, _ in columns))
    return ClassReport(
        data.name,
        tuple(students),
        units,
        _mistakes(students, data),
        _revisits(students),
        _unjudged(students),
        data.warnings,
        data.moment,
        len(data.handed_in - data.times.keys()) if data.moment else 0,
        tuple(exercise for unit, exercise in sorted(data.dropped) if unit in {one.unit for one in units}),
    )


def _people(data: ClassData) -> list[Student]:
    known = {person.id: person for person in data.people}
    marked = (one.student for one in data.marks)
    ids = {*known, *marked, *(student for student, _ in data.handed_in), *(student for student, _, _ in data.grades)}
    return sorted((known.get(student, Student(student)) for student in ids), key=lambda person: person.sort_key)


def _columns(data: ClassData) -> list[tuple[str, str, float]]:
    """(unit, exercise, points) of every exercise of every unit for which there are submissions or marks.

    If the gradebook knows a unit, its graded cells decide, because an instructor may add cells and change points.
    """
    from autograder.exercises import all_exercises, exercises_of

    units = {one.unit for one in data.marks} | {unit for _, unit in data.handed_in} | {unit for _, unit, _ in data.grades}
    columns = []
    for unit in sorted(units):
        graded = {exercise.id: exercise.max_score for exercise in exercises_of(unit) if exercise.graded}
        cells = data.cells.get(unit) or graded
        places = {exercise: place for place, exercise in enumerate(all_exercises())}
        names = sorted(cells, key=lambda name: (places.get(name, len(places)), name))
        columns += [(unit, name, cells[name]) for name in names if cells[name] and (unit, name) not in data.dropped]
    return columns


def _unit(
    students: list[StudentReport],
    unit: str,
    penalties: Mapping[tuple[str, str], float],
    tells: Mapping[tuple[str, str], Discrimination],
) -> UnitReport:
    rows = [[result for result in student.results if result.unit == unit] for student in students]
    max_points = sum(result.max_points for result in rows[0])
    marked = [(s, row) for s, row in zip(students, rows, strict=True) if any(r.state not in UNDECIDED for r in row)]
    points = (max(0.0, sum(r.points for r in row) - penalties.get((s.person.id, unit), 0.0)) for s, row in marked)
    states = [{result.state for result in row} for row in rows]
    return UnitReport(
        unit,
        max_points,
        tuple(_exercise(list(results), tells[unit, results[0].exercise]) for results in zip(*rows, strict=True)),
        tuple(sorted(one / max_points for one in points)),
        sum(found == {ABSENT} for found in states),
        sum(WAITING in found for found in states),
    )


def _exercise(results: list[Result], tells: Discrimination) -> ExerciseReport:
    states = Counter(result.state for result in results)
    marked = [result.points for result in results if result.state not in UNDECIDED]
    mistakes = Counter(slug for result in results for slug in result.mistakes)
    return ExerciseReport(
        results[0].unit,
        results[0].exercise,
        results[0].max_points,
        {state: states[state] for state in STATES},
        sum(marked) / len(marked) if marked else 0.0,
        tuple(sorted(mistakes.items(), key=lambda item: (-item[1], item[0]))),
        tells,
    )


def _mistakes(students: list[StudentReport], data: ClassData) -> tuple[MistakeReport, ...]:
    """The mistakes made, those that cost most first."""
    from gradaccum.diagnosis.catalogue import CATALOGUE

    sentences = {mistake.slug: mistake.message for m in data.marks for e in m.exercises for mistake in e.mistakes}
    sentences |= {slug: mistake.message for slug, mistake in CATALOGUE.items()}
    examples = examples_of(data)
    reports = []
    made = [(s.person.id, result, slug) for s in students for result in s.results for slug in result.mistakes]
    for slug in {slug for _, _, slug in made}:
        rows = [(student, result) for student, result, made_slug in made if made_slug == slug]
        exercises = Counter((result.unit, result.exercise) for _, result in rows)
        ranked = sorted(exercises.items(), key=lambda item: (-item[1], item[0]))
        lost = sum(result.lost / len(result.mistakes) for _, result in rows)
        lesson, example = (
            lesson_of(*ranked[0][0], slug),
            best_example([examples.get((slug, e), NO_EXAMPLE) for (_, e), _ in ranked]),
        )
        named = tuple((exercise, count) for (_, exercise), count in ranked)
        students_with_it = len({student for student, _ in rows})
        reports.append(MistakeReport(slug, sentences[slug], students_with_it, lost, named, lesson, *example))
    return tuple(sorted(reports, key=lambda one: (-one.lost, -one.students, one.slug)))


def _revisits(students: list[StudentReport]) -> tuple[Revisit, ...]:
    """Sections of the course by the points that their mistakes cost. What could not be judged does not count."""
    lost: defaultdict[Lesson, float] = defaultdict(float)
    students_of: defaultdict[Lesson, set[str]] = defaultdict(set)
    causes: defaultdict[Lesson, defaultdict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for student in students:
        for result in student.results:
            if result.state in UNDECIDED or UNJUDGED & {*result.causes}:
                continue
            for cause in result.causes:
                lesson = lesson_of(result.unit, result.exercise, cause)
                named = (cause, "") if cause in result.mistakes else (result.exercise, cause)
                lost[lesson] += result.lost / len(result.causes)
                students_of[lesson].add(student.person.id)
                causes[lesson][named].add(student.person.id)
    return tuple(
        Revisit(lesson, points, len(students_of[lesson]), _ranked(causes[lesson]))
        for lesson, points in sorted(lost.items(), key=lambda item: (-round(item[1], 6), item[0].unit, item[0].heading))
    )


def _unjudged(students: list[StudentReport]) -> Unjudged:
    results = [result for student in students for result in student.results if UNJUDGED & {*result.causes}]
    counts = Counter(cause for result in results for cause in result.causes)
    return Unjudged(sum(result.lost for result in results), tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))


def _ranked(causes: Mapping[tuple[str, str], set[str]]) -> tuple[tuple[str, str, int], ...]:
    return tuple(sorted(((*cause, len(students)) for cause, students in causes.items()), key=lambda one: (-one[2], one[:2])))


def middle(shares: tuple[float, ...]) -> float:
    """The median; 0 if there are no shares."""
    return median(shares) if shares else 0.0
