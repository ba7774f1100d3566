"""Every sentence of an exercise is a promise: each demand of its text has a trial that notices, and a sample that shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest
from samples import ACCEPTED, SAMPLES, Sample, observe_once

from autograder.contract.promises import Promise, Promises
from autograder.contract.units import UNITS
from autograder.exercises import all_exercises
from autograder.marking.in_process import judge_observations, trials_of
from autograder.released import released_content


@cache
def promises_of(unit: str) -> Mapping[str, Promises]:
    """What the exercises of a unit promise, by exercise id; nothing for a unit that is only for practice."""
    name = f"autograder.exercises.unit_{unit}.promises"
    return import_module(name).PROMISES if find_spec(name) else {}


GRADED = [exercise for exercise in all_exercises().values() if exercise.graded]
EVERY_EXERCISE = pytest.mark.parametrize("exercise", GRADED, ids=lambda exercise: exercise.id)
DEMANDS = [
    pytest.param(exercise, promise, id=f"{exercise.unit}-{exercise.id}-{promise.id}")
    for exercise in GRADED
    for promise in promises_of(exercise.unit)[exercise.id].demands
]


def plain(text: str) -> str:
    return " ".join(text.replace("**", "").split())


@cache
def sentences_of(exercise_id: str) -> list[str]:
    """The sentences of an exercise's text in the released notebook, and of its docstring."""
    unit = all_exercises()[exercise_id].unit
    lines: list[str] = []
    inside = False
    for cell in released_content(unit)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            inside = bool(re.match(rf"## Exercise.*`{exercise_id}`", source)) or (inside and not source.startswith("#"))
            lines += [*(source.splitlines()[1:] if source.startswith("#") else source.splitlines()), ""] if inside else []
        elif cell["metadata"].get("nbgrader", {}).get("grade_id") == f"{exercise_id}-solution":
            docstring = re.search(r'"""(.*?)"""', source, re.DOTALL)
            lines += ["", *(docstring[1].splitlines() if docstring else [])]
            break
    return [sentence for block in blocks(lines) for sentence in split(block)]


def blocks(lines: list[str]) -> list[str]:
    """Paragraphs and list items, each in one line, without the titles of parts and the line on difficulty."""
    found = [""]
    for line in lines:
        if not line.strip() or re.match(r"\s*([-*]|\d+\.|\|) ", line):
            found.append("")
        found[-1] += " " + re.sub(r"^\s*([-*]|\d+\.) ", "", line)
    kept = (re.sub(r"^\*\*[\d.]+ points? · .*?\*\*:? ?", "", block.strip()) for block in found)
    return [plain(block) for block in kept if block and not block.startswith(("*Difficulty", "What earns points"))]


def split(block: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?:]) (?=[A-Z`*(])", block) if sentence]


@EVERY_EXERCISE
def test_every_sentence_of_an_exercise_is_a_demand_or_asks_nothing(exercise):
    promises = promises_of(exercise.unit)[exercise.id]
    demanded = [plain(promise.sentence) for promise in promises.demands]
    nothing = tuple(map(plain, promises.asks_nothing))
    unknown = [
        sentence
        for sentence in sentences_of(exercise.id)
        if not any(quoted in sentence or sentence in quoted for quoted in demanded) and not sentence.startswith(nothing)
    ]
    assert not unknown, f"unit_{exercise.unit}/promises.py says nothing of these sentences"


@EVERY_EXERCISE
def test_promises_quote_the_notebook(exercise):
    promises = promises_of(exercise.unit)[exercise.id]
    text = " ".join(sentences_of(exercise.id))
    assert [p.id for p in promises.demands if plain(p.sentence) not in text] == []
    assert [
        begin for begin in promises.asks_nothing if not any(s.startswith(plain(begin)) for s in sentences_of(exercise.id))
    ] == []


@EVERY_EXERCISE
def test_every_demand_names_trials_and_a_sample_that_exist(exercise):
    demands = promises_of(exercise.unit)[exercise.id].demands
    assert demands
    assert len({promise.id for promise in demands}) == len(demands)
    trials = trials_of(exercise, 0)
    assert [(p.id, name) for p in demands for name in p.trials if name not in trials] == []
    assert [p.id for p in demands if not p.trials or sample_of(exercise.unit, exercise.id, p) is None] == []


@EVERY_EXERCISE
def test_every_trial_keeps_a_promise(exercise):
    """A trial that no demand needs is either superfluous or stands for a demand that the text does not make."""
    needed = {name for promise in promises_of(exercise.unit)[exercise.id].demands for name in promise.trials}
    assert {name for name in trials_of(exercise, 0) if not name.endswith("probe")} - needed == set()


def sample_of(unit: str, exercise_id: str, promise: Promise) -> Sample | None:
    """The sample that violates a promise."""
    found = (s for s in SAMPLES if s.unit == unit and s.kind == "mistakes" and s.path.stem == promise.sample)
    return next((sample for sample in found if sample.exercise == exercise_id), None)


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "promise"), DEMANDS)
def test_trials_of_a_demand_and_no_others_notice_its_violation(exercise, promise):
    sample = sample_of(exercise.unit, exercise.id, promise)
    right = next(s for s in SAMPLES if s.kind == ACCEPTED and s.exercise == exercise.id)
    wrong, good, trials = observe_once(sample), observe_once(right), trials_of(exercise, 0)
    without = {name: good[name] if name in promise.trials else wrong[name] for name in trials}
    alone = {name: wrong[name] if name in promise.trials else good[name] for name in trials}
    assert judge_observations(exercise, trials, without).passed, f"{sample} violates something else, too"
    assert not judge_observations(exercise, trials, alone).passed, f"{promise.trials} do not notice {sample}"


def test_a_promise_belongs_to_an_exercise_of_its_unit():
    strange = [(unit, name) for unit in UNITS for name in promises_of(unit) if all_exercises()[name].unit != unit]
    assert strange == []
