"""Every unit and every exercise has all its parts. A failure names the missing file or line; nothing is marked here."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from samples import ACCEPTED, SAMPLES, WRONG

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.exercises import all_exercises, exercises_of, observers_of, schemas_of, sections_of
from autograder.marking.in_process import trials_of
from gradaccum.diagnosis.catalogue import CATALOGUE

ROOT = Path(__file__).parents[3]
UNITS = sorted({path.parent.name.removeprefix("unit_") for path in ROOT.glob("autograder/exercises/unit_*/*.py")})
SCRIPTS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py"))

REQUIRED = ("__init__", "exercises", "observing", "schema")
"""Modules or packages that every unit's folder has."""

OPTIONAL = ("judging", "mistakes", "pictures", "promises", "puzzle", "sections", "survivors")
"""What else it may have: modules or packages; also survivors.toml, and answers, which are text."""

MIN_ACCEPTED, MIN_WRONG = 3, 4
"""Sample submissions of each exercise, its second model answer included; practice is no exception."""

EVERY_UNIT = pytest.mark.parametrize("unit", UNITS)
EVERY_EXERCISE = pytest.mark.parametrize("exercise", all_exercises().values(), ids=lambda exercise: exercise.id)


def folder_of(unit: str) -> str:
    return f"autograder/exercises/unit_{unit}"


@cache
def script(unit: str) -> list[str]:
    return (ROOT / "solutions" / f"{unit}.py").read_text().splitlines()


@cache
def readme() -> list[str]:
    return (ROOT / "README.md").read_text().splitlines()


def absent(*paths: str) -> list[str]:
    return [path for path in paths if not (ROOT / path).exists()]


@pytest.mark.parametrize("unit", SCRIPTS)
def test_solution_script_has_a_folder_of_exercises(unit):
    assert not absent(f"{folder_of(unit)}/exercises.py")


@EVERY_UNIT
def test_unit_has_a_script_notebooks_and_sample_submissions(unit):
    notebooks = f"course/{unit}.ipynb", f"autograder/released/{unit}.ipynb"
    assert not absent(f"solutions/{unit}.py", *notebooks, f"tests/submissions/{unit}")


@EVERY_UNIT
def test_unit_has_a_row_in_the_readme(unit):
    row = f"| [{unit.replace('_', ' ')}](course/{unit}.ipynb) |"
    assert any(line.startswith(row) and line.count("|") == 4 for line in readme()), f"README.md, Units: no row {row} … | … |"


@EVERY_UNIT
def test_unit_has_a_second_model_answer_to_each_exercise_and_to_nothing_else(unit):
    found = {path.name for path in (ROOT / folder_of(unit) / "answers").glob("*.*")}
    assert found == {f"{exercise.id}.py" for exercise in exercises_of(unit)}


@EVERY_UNIT
def test_folder_of_a_unit_holds_what_was_agreed_and_nothing_else(unit):
    besides = ("__pycache__", "answers", "survivors.toml")
    entries = [path for path in (ROOT / folder_of(unit)).iterdir() if path.name not in besides]
    names = [path.stem for path in entries]
    assert not [f"{folder_of(unit)}/{name}.py" for name in REQUIRED if name not in names], "missing"
    assert not [f"{folder_of(unit)}/{path.name}" for path in entries if path.stem not in (*REQUIRED, *OPTIONAL)], "unknown"
    assert not [f"{folder_of(unit)}/{name}.py" for name in set(names) if names.count(name) > 1], "there as a package, too"
    packages = [path for path in entries if path.is_dir()]
    assert not [f"{folder_of(unit)}/{path.name}/__init__.py" for path in packages if not (path / "__init__.py").is_file()]


@EVERY_UNIT
def test_exercises_of_a_unit_say_that_they_belong_to_it(unit):
    assert exercises_of(unit), f"{folder_of(unit)}/exercises.py has no class with an id"
    assert not [exercise.id for exercise in exercises_of(unit) if exercise.unit != unit]


@EVERY_UNIT
def test_unit_observes_exactly_its_exercises(unit):
    assert sorted(observers_of(unit)) == sorted(exercise.id for exercise in exercises_of(unit)), "OBSERVERS in observing"


@EVERY_UNIT
def test_unit_has_schemas_for_exactly_its_exercises(unit):
    assert sorted(schemas_of(unit)) == sorted(exercise.id for exercise in exercises_of(unit)), "SCHEMAS in schema"


@EVERY_EXERCISE
def test_every_trial_of_an_exercise_has_a_schema_that_an_empty_observation_does_not_fit(exercise: Exercise):
    for trial in trials_of(exercise, 0).values():
        assert schemas_of(exercise.unit)[exercise.id](trial).admitted(Observation()).failure.kind == "misfit"


CATALOGUE_BY_UNIT = """
import json, os
import torch  # which every fork needs, and which imports nothing of ours
import gradaccum.diagnosis.catalogue as catalogue
from autograder.contract.units import UNITS
from autograder.exercises import exercises_of
for unit in UNITS:
    if os.fork() == 0:  # as if no other unit had ever been asked for
        exercises_of(unit)
        print(json.dumps([unit, sorted(catalogue.CATALOGUE)]), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow
def test_mistakes_of_a_unit_s_samples_are_in_the_catalogue_when_no_other_unit_was_asked_for():
    lines = subprocess.run([sys.executable, "-c", CATALOGUE_BY_UNIT], capture_output=True, text=True, check=True).stdout
    found = dict(map(json.loads, lines.splitlines()))
    assert sorted(found) == UNITS
    assert [(sample.id, slug) for sample in SAMPLES for slug in sample.mistakes if slug not in found[sample.unit]] == []


@EVERY_UNIT
def test_sections_that_show_mistakes_are_in_the_script_and_their_mistakes_in_the_catalogue(unit):
    shown = sections_of(unit)
    assert not [heading for heading in shown if f"# ## {heading}" not in script(unit)]
    assert not {slug for slugs in shown.values() for slug in slugs} - CATALOGUE.keys()


@EVERY_EXERCISE
def test_exercise_is_prepared_by_a_section_of_its_unit(exercise: Exercise):
    line = f"# ## {exercise.section}"
    assert line in script(exercise.unit), f"solutions/{exercise.unit}.py has no line {line}"


@EVERY_EXERCISE
@pytest.mark.parametrize("role", ["exercise", "check"])
def test_exercise_has_a_solution_cell_and_a_check_cell(exercise: Exercise, role):
    cell = f'{role}="{exercise.id}"'
    cells = [line for line in script(exercise.unit) if line.startswith("# %%") and cell in line]
    assert len(cells) == 1, f"solutions/{exercise.unit}.py needs one cell # %% {cell}"


@EVERY_EXERCISE
def test_exercise_has_enough_right_and_wrong_samples(exercise: Exercise):
    kinds = [sample.kind for sample in SAMPLES if sample.exercise == exercise.id]
    folder = f"tests/submissions/{exercise.unit}"
    assert kinds.count(ACCEPTED) >= MIN_ACCEPTED, f"{folder}/accepted needs {MIN_ACCEPTED - 1} files for {exercise.id}"
    assert len(kinds) - kinds.count(ACCEPTED) >= MIN_WRONG, f"{folder}/mistakes needs {MIN_WRONG} files for {exercise.id}"


def test_every_mistake_is_made_by_a_sample():
    made = {slug for sample in SAMPLES for slug in sample.mistakes}
    assert not CATALOGUE.keys() - made, "no file in tests/submissions has these among its MISTAKES"


def test_samples_say_what_they_do_in_one_line():
    said = {sample: ast.get_docstring(ast.parse(sample.path.read_text())) or "" for sample in SAMPLES if not sample.is_answer}
    assert not [str(sample) for sample, text in said.items() if not re.fullmatch(r".+[.?]", text)]


def test_samples_declare_exercises_mistakes_and_parts_that_exist():
    parts = {exercise.id: {part.name for part in exercise.parts} for exercise in all_exercises().values()}
    units = {exercise.id: exercise.unit for exercise in all_exercises().values()}
    assert not [str(sample) for sample in SAMPLES if units.get(sample.exercise) != sample.unit]
    assert not [str(sample) for sample in SAMPLES if not set(sample.mistakes) <= CATALOGUE.keys()]
    assert not [str(sample) for sample in SAMPLES if not set(sample.lost or ()) <= parts[sample.exercise]]


def test_right_samples_declare_no_mistakes_and_wrong_ones_the_parts_they_lose():
    assert {sample.kind for sample in SAMPLES} <= {ACCEPTED, *WRONG}
    assert not [str(sample) for sample in SAMPLES if sample.kind == ACCEPTED and (sample.mistakes or sample.lost)]
    assert not [str(sample) for sample in SAMPLES if sample.kind in WRONG and not sample.lost]
