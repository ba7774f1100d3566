"""Every exercise, marked on a GPU: the marks, the mistakes named and the points lost are the CPU's."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from samples import ACCEPTED, SAMPLES, Sample, marks_differ

from autograder.apart import observe_apart
from autograder.exercise import EXERCISES, exercises_of
from autograder.marking import device_for, judged
from autograder.observing import observe_exercise
from autograder.running import Limits, run
from autograder.submissions import read_submission

ROOT = Path(__file__).parent.parent.parent
SOLUTIONS = sorted((ROOT / "solutions").glob("*.py"))
RANKS = "10_distributed"


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


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if on_a_gpu(sample.unit)], ids=str)
def test_a_sample_is_marked_as_on_the_cpu(sample):
    for name in imported(sample):  # one shows a progress bar
        pytest.importorskip(name)
    assert not marks_differ(sample, "cuda")


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_solution_has_every_point(path):
    submission = read_submission(path)
    if on_a_gpu(submission.unit):
        loaded = run(submission.cells, Limits())
        seen = {e.id: observe_exercise(e, loaded, 0, "cuda", Limits()) for e in exercises_of(submission.unit)}
    else:
        seen = observe_apart(path, 0)
    assert seen
    for name, observed in seen.items():
        verdict = judged(EXERCISES[name], 0, device_for([EXERCISES[name]], "cuda"), observed)
        assert verdict.passed, str(verdict)


@pytest.mark.parametrize("sample", ONE_OF_EACH.values(), ids=str)
def test_other_problems_are_marked_as_on_the_cpu(sample):
    assert not marks_differ(sample, "cuda", seed=12345)


def test_the_samples_on_several_ranks_get_their_verdicts_where_there_is_a_gpu():
    """They compute on the CPU, in forks, so in a process that does not see the GPU."""
    tests = Path("tests", "autograder", "test_sample_submissions.py")
    command = [sys.executable, "-m", "pytest", "-q", "-k", f"test_sample_gets_its_verdict and {RANKS}", str(tests)]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
