"""Every exercise, marked on a GPU: the marks, the mistakes named and the points lost are the CPU's."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from samples import ACCEPTED, SAMPLES, Sample, marks_differ

from autograder.exercises import all_exercises, exercises_of
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import run
from autograder.isolation.worker import observe_exercise
from autograder.marking.in_process import device_for, trials_of
from autograder.marking.marker import mark_file, verdict_on
from autograder.reading.submissions import read_submission

ROOT = Path(__file__).parent.parent.parent
SOLUTIONS = sorted((ROOT / "solutions").glob("*.py"))
ON_THE_CPU = ("10_distributed", "11_running_it")
"""Units that fork, which a process that has used a GPU cannot do."""

SAVED_AND_LOADED_APART = "12_capstone/mistakes/train_keeps_states_in_memory"
"""Its mistake shows where one process saves and another one loads. Beside a GPU, samples are marked in one process."""


def on_a_gpu(unit: str) -> bool:
    return not all(exercise.cpu_only for exercise in exercises_of(unit))


ONE_OF_EACH = {
    s.exercise: s for s in reversed(SAMPLES) if on_a_gpu(s.unit) and s.kind == ACCEPTED and "noisy" not in s.path.stem
}
"""A right sample for each exercise."""


def imported(sample: Sample) -> set[str]:
    nodes = list(ast.walk(ast.parse(sample.path.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.partition(".")[0] for name in plain | {n.module for n in nodes if isinstance(n, ast.ImportFrom)}}


@pytest.mark.parametrize(
    "sample",
    [sample for sample in SAMPLES if on_a_gpu(sample.unit) and str(sample) != SAVED_AND_LOADED_APART],
    ids=str,
)
def test_a_sample_is_marked_as_on_the_cpu(sample):
    for name in imported(sample):  # one shows a progress bar
        pytest.importorskip(name)
    assert not marks_differ(sample, "cuda")


def test_units_that_fork_are_marked_on_the_cpu():
    assert tuple(path.stem for path in SOLUTIONS if not on_a_gpu(path.stem)) == ON_THE_CPU


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_solution_has_every_point(path):
    submission = read_submission(path)
    unit, exercises = submission.unit, exercises_of(submission.unit)
    device = device_for(exercises, "cuda")
    trials = {exercise.id: trials_of(exercise, 0, device) for exercise in exercises}
    if on_a_gpu(unit):
        loaded = run(submission.cells, Limits())
        seen = {name: observe_exercise(unit, name, those, loaded, Limits()) for name, those in trials.items()}
        verdicts = [verdict_on(all_exercises()[name], trials[name], observed) for name, observed in seen.items()]
    else:
        for name in ("psutil", "safetensors"):
            pytest.importorskip(name)
        verdicts = [*mark_file(path, device="cuda").verdicts]
    assert verdicts
    assert all(verdict.passed for verdict in verdicts), "\n".join(map(str, verdicts))


@pytest.mark.parametrize("sample", ONE_OF_EACH.values(), ids=str)
def test_other_problems_are_marked_as_on_the_cpu(sample):
    assert not marks_differ(sample, "cuda", seed=12345)


@pytest.mark.parametrize("unit", ON_THE_CPU)
def test_the_samples_of_units_that_fork_get_their_verdicts_where_there_is_a_gpu(unit):
    """They compute on the CPU, in a process that does not see the GPU."""
    tests = Path("tests", "marker", "exercises", "test_sample_submissions.py")
    command = [sys.executable, "-m", "pytest", "-q", "-k", f"test_sample_gets_its_verdict and {unit}", str(tests)]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
