"""Damage to a notebook costs no marks for the answers that are still there."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

import nbformat
import pytest
from damage import is_solution
from damages import DAMAGES, Damage, solved

from autograder.exercises import exercises_of
from autograder.marking.marker import mark_file
from autograder.reading.python_source import PythonSource
from autograder.reading.submissions import SubmissionError, parse_submission, read_submission

UNITS = ("03_accumulate", "04_training_loop")
LARGE = "outputs_of_a_hundred_megabytes"
EVERY_DAMAGE = pytest.mark.parametrize(
    ("damage", "unit"),
    [
        pytest.param(damage, unit, id=f"{damage.name}-{unit}", marks=[pytest.mark.slow] * (damage.name == LARGE))
        for damage in DAMAGES
        for unit in (UNITS[:1] if damage.name == LARGE else UNITS)  # a large notebook is as large in every unit
    ],
)
FILES = Path(__file__).parents[2] / "damaged" / "files"
FORMATS = sorted({*FILES.glob("*.ipynb")} - {FILES / f"03_accumulate_{damage}.ipynb" for damage in ("empty", "truncated")})


@cache
def parsed(damage: Damage, unit: str):
    return parse_submission(Path(damage.file.format(unit=unit)), damage.bytes_of(unit))


def test_there_are_enough_kinds_of_damage():
    assert len({damage.name for damage in DAMAGES}) == len(DAMAGES) >= 25


@pytest.mark.slow
@EVERY_DAMAGE
def test_a_damaged_notebook_is_rebuilt_as_a_valid_notebook_of_its_unit(damage, unit):
    submission = parsed(damage, unit)
    nbformat.validate(submission.notebook, relax_add_props=False)
    assert submission.unit == unit
    assert [cell.metadata for cell in submission.notebook.cells if cell.metadata] == [
        cell["metadata"] for cell in solved(unit)["cells"] if cell["metadata"]
    ]


@EVERY_DAMAGE
def test_no_surviving_answer_is_overridden_by_a_stub(damage, unit):
    names = damage.still_there(unit)
    found = [d for cell in parsed(damage, unit).cells for d in PythonSource(cell.source, names).definitions(names)]
    assert {d.name for d in found} == set(names)
    assert [name for name, stub in {d.name: d.stub for d in found}.items() if stub] == []


@pytest.mark.parametrize("file", FORMATS, ids=lambda path: path.stem)
def test_every_answer_is_found_in_notebooks_of_other_formats(file):
    submission = read_submission(file)
    answers = {cell["id"]: cell["source"] for cell in solved("03_accumulate")["cells"] if is_solution(cell)}
    found = {cell.id: cell.source for cell in submission.cells}
    assert {cell_id: found[cell_id].rstrip() for cell_id in answers} == answers
    nbformat.validate(submission.notebook, relax_add_props=False)
    extra = [cell for cell in submission.notebook.cells if cell.id.startswith("student-")]
    assert [cell.source for cell in extra if cell.cell_type == "code"] == []  # prose differs from edition to edition


def test_an_empty_file_is_refused_with_the_reason():
    with pytest.raises(SubmissionError, match="the file is empty"):
        read_submission(FILES / "03_accumulate_empty.ipynb")


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS[:1])  # whose code runs faster; the tests above, which run no code, cover both
def test_every_surviving_exercise_gets_the_marks_of_the_undamaged_notebook(unit, tmp_path, record_property):
    """Every fourth kind of damage; that all of them leave the right code to run is tested above, without running it."""
    full = {exercise.id: exercise.max_score for exercise in exercises_of(unit)}
    rows, lost_in_all = [], 0.0

    def mark(name: str, path: Path, still_there: Collection[str]) -> None:
        nonlocal lost_in_all
        scores = {verdict.exercise: verdict.score for verdict in mark_file(path).verdicts}
        lost = sum(full[exercise] - scores[exercise] for exercise in still_there)
        gained = sum(scores.values()) - sum(scores[exercise] for exercise in still_there)
        lost_in_all += lost + gained
        rows.append(f"{name:<60} {len(full) - len(still_there):5} {lost:6g} {gained:6g}")

    for damage in DAMAGES[::4]:
        path = tmp_path / damage.file.format(unit=unit)
        path.write_bytes(damage.bytes_of(unit))
        mark(damage.name, path, damage.still_there(unit))
    for path in FORMATS:
        if unit in path.stem:
            mark(path.name, path, full)
    head = f"{'damage to ' + unit:<60} {'gone':>5} {'lost':>6} {'gained':>6}"
    record_property("table", "\n".join([head, *rows, f"{len(rows)} damaged files: {lost_in_all:g} points lost or gained"]))
    assert lost_in_all == 0, "\n".join(rows)
