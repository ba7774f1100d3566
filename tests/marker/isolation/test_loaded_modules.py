"""In the process that runs a submission there is nothing that judges, that names mistakes, or that knows the class's seed."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Iterator

import pytest

from autograder.contract.units import UNITS
from autograder.exercises import exercises_of
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import BWRAP, NONE
from autograder.isolation.visible_modules import is_visible
from autograder.isolation.worker import STAND_INS, Request
from autograder.marking.in_process import trials_of
from autograder.marking.marker import Marker, Marks
from autograder.reading.submissions import read_submission
from autograder.support.seeds import student_seed

SUBMISSION = """
import base64, json, sys, zlib
from autograder.check import check
from autograder.progress import show_progress
from autograder.puzzle import show_puzzle

calls = []

def average_gradients(gradients):
    calls.append(gradients)
    return sum(gradients) / len(gradients)

verdict = check(average_gradients)
ours = [name for name in sys.modules if name.split(".")[0] in ("autograder", "gradaccum")]
found = {"ours": ours, "verdict": verdict, "others": [show_progress(), show_puzzle()], "calls": len(calls)}
print(base64.b64encode(zlib.compress(json.dumps(found).encode())).decode())
"""
"""Compressed: of what a submission prints only a part is kept, and the names of all modules are more."""


@pytest.fixture(scope="module")
def marker() -> Iterator[Marker]:
    with Marker(sandbox=BWRAP if shutil.which("bwrap") else NONE) as marker:
        yield marker


def printed(marks: Marks) -> dict:
    (report,) = marks.reports
    assert not report.trouble
    return json.loads(zlib.decompress(base64.b64decode(report.printed)))


@pytest.mark.slow
def test_no_module_that_judges_or_names_mistakes_is_loaded_with_a_submission(marker, write):
    marks = marker.mark(read_submission(write("00_start_here.py", SUBMISSION)))
    found = printed(marks)
    assert {name for name in found["ours"] if not is_visible(name)} == set(STAND_INS)
    assert "autograder.isolation.worker" in found["ours"]
    assert marks.score == 1


@pytest.mark.slow
def test_a_check_in_a_submission_does_not_even_call_the_function(marker, write):
    found = printed(marker.mark(read_submission(write("00_start_here.py", SUBMISSION))))
    assert found["verdict"] is None
    assert found["others"] == [None, None]
    assert found["calls"] == 0


SEED, LONG_SEED = 0x5EC12E7 * 16 + 9, student_seed("secret", "ada", "04_training_loop")
MULTIPLES, OFFSETS = (1, 8, 10), range(32)
"""What trials make of the seed they are given: some multiply it, and all add small numbers."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seed", [SEED, LONG_SEED])
def test_a_request_holds_no_seed_of_the_marking(unit, seed):
    trials = {exercise.id: trials_of(exercise, seed) for exercise in exercises_of(unit)}
    request, text = Request((), unit, trials, "cpu", Limits()).encode(), repr(trials)
    for number in {multiple * seed % 2**bits + k for multiple in MULTIPLES for bits in (31, 40, 60, 64) for k in OFFSETS}:
        assert number.to_bytes(9, "little").rstrip(b"\0") not in request
        assert str(number) not in text


def test_trials_made_from_a_seed_itself_would_be_noticed():
    """Else the test above would find nothing wherever it looks."""
    trials = {exercise.id: exercise.trials(SEED, "cpu") for exercise in exercises_of("04_training_loop")}
    assert (SEED + 1).to_bytes(4, "little") in Request((), "04_training_loop", trials, "cpu", Limits()).encode()


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_trials_are_the_same_for_the_same_seed_and_differ_for_another(unit):
    for seed in (SEED, LONG_SEED):
        one, again, other = ([repr(trials_of(e, number)) for e in exercises_of(unit)] for number in (seed, seed, seed + 1))
        assert one == again
        assert one != other
