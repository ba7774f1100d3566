"""The sample submissions in ``tests/submissions``: what they declare, and marking them on any device.

The second model answers are samples, too: right ones. All are run the way the command line runs a file, but in this process.
Of packages, this module needs torch only.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import autograder.exercises
from autograder.contract.cell import Cell
from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.verdict import Verdict
from autograder.exercises import all_exercises
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import Loaded, run
from autograder.isolation.worker import observe_exercise
from autograder.marking.in_process import admitted, judge_observations, trials_of

FOLDER = Path(__file__).parent.parent / "submissions"
ANSWERS = Path(autograder.exercises.__file__).parent
ACCEPTED, WRONG = "accepted", ("mistakes", "pairs")


@dataclass(frozen=True)
class Sample:
    """A file and what it declares.

    Attributes:
        path: of the file, ``tests/submissions/UNIT/KIND/NAME.py`` or ``autograder/exercises/unit_UNIT/answers/EXERCISE.py``.
        exercise: the function that it answers.
        mistakes: the slugs that its verdict must name.
        lost: the parts that it must lose the points for; None if it declares none.
        says: sentences, or parts of such, that its verdict must contain.
    """

    path: Path
    exercise: str
    mistakes: tuple[str, ...]
    lost: tuple[str, ...] | None
    says: tuple[str, ...]

    @property
    def unit(self) -> str:
        return self.path.parent.parent.name.removeprefix("unit_")

    @property
    def is_answer(self) -> bool:
        return self.path.parent.name == "answers"

    @property
    def kind(self) -> str:
        return ACCEPTED if self.is_answer else self.path.parent.name

    def __str__(self) -> str:
        return f"{self.unit}/{self.path.parent.name}/{self.path.stem}"


def read(path: Path) -> Sample:
    """What a file declares, found without running it; an answer declares nothing."""
    declared = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and node.targets[0].id in ("EXERCISE", "MISTAKES", "LOST", "SAYS")
    }
    exercise, mistakes = declared.get("EXERCISE", path.stem), declared.get("MISTAKES", ())
    return Sample(path, exercise, mistakes, declared.get("LOST"), declared.get("SAYS", ()))


FILES = (*sorted(FOLDER.glob("*/*/*.py")), *sorted(ANSWERS.glob("unit_*/answers/*.py")))
SAMPLES = tuple(map(read, FILES))
SOME = tuple(
    sample
    for sample in SAMPLES
    if f"{sample.unit[:2]}/{sample.path.stem}"
    in {
        *("04/no_scale", "04/eval_mode_after_first_window", "04/lr_scaled_too_and_left_so", "04/one_big_batch"),
        *("04/zero_every_and_off_by_one_early", "04/torch_func_grad", "04/name_that_loop_raises", "03/detached"),
        *("03/same_update_sum", "00/median"),
    }
)
"""Samples of different kinds, for tests that mark each of them several times."""


def load(sample: Sample) -> Loaded:
    """The names that a sample defines, run afresh: some keep what they were called with, which must not reach another seed.

    An answer stands below the unit's other answers.
    """
    others = sorted(sample.path.parent.glob("*.py")) if sample.is_answer else []
    files = [*(path for path in others if path != sample.path), sample.path]
    return run([Cell(path.name, path.read_text()) for path in files], Limits())


def observe(sample: Sample, seed: int, device: str = "cpu") -> Mapping[str, Observation]:
    """What a sample's function does on each trial, observed in this process."""
    exercise = all_exercises()[sample.exercise]
    return observe_exercise(sample.unit, exercise.id, trials_of(exercise, seed, device), load(sample), Limits())


def mark(sample: Sample, seed: int, device: str = "cpu") -> Verdict:
    """The verdict on a sample, in this process."""
    return judge(sample, observe(sample, seed, device), seed, device)


def judge(sample: Sample, observations: Mapping[str, Observation], seed: int, device: str = "cpu") -> Verdict:
    """The verdict on what was observed of a sample."""
    exercise = all_exercises()[sample.exercise]
    trials = trials_of(exercise, seed, device)
    assert not misfits(exercise, trials, observations), "an honest observation does not fit the exercise's schema"
    return judge_observations(exercise, trials, observations)


def misfits(exercise: Exercise, trials: Mapping[str, Any], observations: Mapping[str, Observation]) -> list[str]:
    """What does not fit the exercise's schema, a line for each trial."""
    both = ((observations[name], seen) for name, seen in admitted(exercise, trials, observations).items())
    return [str(seen.failure) for given, seen in both if seen is not given]


@cache
def observe_once(sample: Sample) -> Mapping[str, Observation]:
    """What a sample's function does with seed 0: observed once in each process that tests run in."""
    return observe(sample, 0)


@cache
def mark_once(sample: Sample) -> Verdict:
    """The verdict on a sample with seed 0, reached once in each process that tests run in."""
    return judge(sample, observe_once(sample), 0)


def slugs(verdict: Verdict) -> list[str]:
    return [mistake.slug for mistake in verdict.mistakes]


def lost(verdict: Verdict) -> set[str]:
    return {result.part.name for result in verdict.results if not result.passed}


def verdicts_differ(sample: Sample, verdict: Verdict) -> str:
    """How a verdict differs from what its sample asks for; empty if it does not."""
    if sample.kind == ACCEPTED:
        said = verdict.mistakes or (sample.is_answer and verdict.remark)
        return "" if verdict.passed and not said else f"rejected:\n{verdict}"
    if verdict.passed:
        return "accepted"
    if sorted(slugs(verdict)) != sorted(sample.mistakes):
        return f"named {slugs(verdict)} where {list(sample.mistakes)} were due"
    if sample.lost is not None and lost(verdict) != set(sample.lost):
        return f"lost the points for {sorted(lost(verdict))}, not for {sorted(sample.lost)}"
    if unsaid := [sentence for sentence in sample.says if sentence not in str(verdict)]:
        return f"did not say {unsaid}:\n{verdict}"
    return ""


def marks_differ(sample: Sample, device: str, seed: int = 0) -> str:
    """How the marks of a sample on a device differ from what it asks for, or from those on the CPU; empty if they do not."""
    here, there = mark_once(sample) if seed == 0 else mark(sample, seed), mark(sample, seed, device)
    if difference := verdicts_differ(sample, there):
        return f"on {device} {difference}"
    marks, wanted = ((verdict.score, slugs(verdict), lost(verdict)) for verdict in (there, here))
    return "" if marks == wanted else f"on {device} {marks}, on the CPU {wanted}"
