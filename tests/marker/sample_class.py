"""Classes for tests and pictures: a small one with known marks, and random ones of any size with real verdicts."""

from __future__ import annotations

import random
import runpy
from functools import cache
from pathlib import Path

from autograder.classroom.grading.marks_store import ExerciseMarks, MistakeMarks, PartMarks, StudentMarks, student_marks
from autograder.classroom.report.class_data import ClassData
from autograder.classroom.students import Student
from autograder.contract.exercise import Exercise
from autograder.contract.observation import Failure
from autograder.contract.verdict import Verdict
from autograder.exercises import exercises_of
from autograder.marking.in_process import mark_function
from autograder.marking.marker import Marks
from gradaccum.diagnosis.catalogue import mistake

FOLDER = Path(__file__).parents[1] / "submissions"
NAMES = (
    ("Ada", "Alan", "Barbara", "Claude", "David", "Edsger", "Emmy", "Frances", "Grace", "Hedy", "Jean", "Katherine", "Radia"),
    ("Abara", "Berg", "Chen", "Dlamini", "Fischer", "Garcia", "Hassan", "Ito", "Kaya", "Lopez-Mehta", "Novak", "Okafor"),
)

UNIT, EARLIER = "04_training_loop", "03_accumulate"
POINTS = {"repaired_early_clear": 1, "repaired_eager_step": 1, "repaired_lost_tail": 1, "train_epoch": 6, "name_that_loop": 1}
TABLES = tuple(
    f'<div style="overflow-x:auto"><div style="font-size:12px">{title} loop&#x27;s fingerprint</div><table><tbody><tr>'
    f'<th scope="row">1</th><td style="background:rgba(0,114,178,0.62)">{text}</td></tr></tbody></table></div>'
    for title, text in (("A right", "1/4"), ("Your", "1"))
)


def exercise(name: str, points: float, *slugs: str, failure: str = "", tables: tuple[str, ...] = (), said: str = ""):
    part = PartMarks("part", "a right answer", points, POINTS[name], said)
    return ExerciseMarks(name, (part,), tuple(MistakeMarks(s, mistake(s).message) for s in slugs), failure, said, tables)


def marks(student: str, *exercises: ExerciseMarks, problem: str = "") -> StudentMarks:
    """The marks of unit 04, with full marks for all exercises not given."""
    given = {one.id: one for one in exercises}
    every = tuple(given.get(name) or exercise(name, points) for name, points in POINTS.items())
    return StudentMarks(student, UNIT, "key", "cpu", 1.0, every, problem)


def nothing(student: str, failure: str, problem: str = "") -> StudentMarks:
    return marks(student, *(exercise(name, 0, failure=failure) for name in POINTS), problem=problem)


CLASS = ClassData(
    "my-class",
    tuple(Student(*names) for names in (("a", "Ada", "Berg"), ("b", "Bo", "Chen"), ("c", "Cy", "Diaz"), ("d", "Di", "Engel"))),
    (
        marks("a"),
        marks("b", exercise("train_epoch", 2, "no-scale"), exercise("repaired_lost_tail", 0, "no-scale", "tail-dropped")),
        marks("c", exercise("train_epoch", 0, failure="raised"), exercise("name_that_loop", 0, failure="unwritten")),
    ),
    frozenset({("a", UNIT), ("b", UNIT), ("c", UNIT)}),
)
"""Ada has 10 points, Bo 5, Cy 3, and Di has handed nothing in."""


@cache
def sample_verdicts(unit: str, each: int) -> dict[str, list[Verdict]]:
    """For each exercise of a unit verdicts on a right answer, on some wrong ones, and on functions that return nothing."""
    return {exercise.id: [*_marked(unit, exercise, each), *_failed(exercise)] for exercise in exercises_of(unit)}


def dealt_class(units: tuple[str, ...], students: int, seed: int = 0, each: int = 4, name: str = "my-class") -> ClassData:
    """A random class: most students do well, some make mistakes, mostly the same ones, and a few hand in nothing."""
    chance = random.Random(seed)
    verdicts = {unit: sample_verdicts(unit, each) for unit in units}
    kept = {
        unit: {exercise: [_kept(unit, verdict) for verdict in choices] for exercise, choices in exercises.items()}
        for unit, exercises in verdicts.items()
    }
    people = tuple(Student(f"s{number:03}", *map(chance.choice, NAMES)) for number in range(1, students + 1))
    marks, handed_in = [], set()
    for person in people:
        skill = chance.betavariate(4, 1.6)
        for unit in units:
            if chance.random() > 0.55 + 0.45 * min(1.0, skill * 1.4):
                continue
            handed_in.add((person.id, unit))
            exercises = tuple(_dealt(choices, skill, chance) for choices in kept[unit].values())
            marks.append(StudentMarks(person.id, unit, "key", "cpu", 1.0, exercises))
    return ClassData(name, people, tuple(marks), frozenset(handed_in))


def _dealt(choices: list[ExerciseMarks], skill: float, chance: random.Random) -> ExerciseMarks:
    """One of the choices: the first, which is right, or one of the others, the first of them most often."""
    if chance.random() < skill:
        return choices[0]
    return chance.choices(choices[1:], weights=[1 / place**1.3 for place in range(1, len(choices))])[0]


def _marked(unit: str, exercise: Exercise, each: int) -> list[Verdict]:
    """Verdicts on sample submissions: a right one, wrong ones with different mistakes, and one without a known mistake."""
    samples = {kind: _samples(unit, exercise.id, kind) for kind in ("accepted", "mistakes")}
    random.Random(exercise.id).shuffle(samples["mistakes"])
    chosen = {text.partition("MISTAKES = ")[2].partition("\n")[0]: path for path, text in samples["mistakes"]}
    unexplained = [chosen.pop(none) for none in ("()", "") if none in chosen]
    paths = [path for path, _ in samples["accepted"][:1]] + [*chosen.values()][:each] + unexplained[:1]
    return [mark_function(exercise, runpy.run_path(str(path))[exercise.id]) for path in paths]


def _samples(unit: str, exercise: str, kind: str) -> list[tuple[Path, str]]:
    texts = ((path, path.read_text()) for path in sorted((FOLDER / unit / kind).glob("*.py")))
    return [(path, text) for path, text in texts if f'EXERCISE = "{exercise}"' in text]


def _failed(exercise: Exercise) -> list[Verdict]:
    failures = (Failure("unwritten", "It is not written yet."), Failure("raised", "NameError: name 'secret' is not defined"))
    return [exercise.failed(failure) for failure in failures]


def _kept(unit: str, verdict: Verdict) -> ExerciseMarks:
    return student_marks("", "", 0.0, Marks("", unit, "cpu", (verdict,))).exercises[0]
