"""Damage to a notebook costs no marks for what is still there."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from damages import DAMAGES, Damage, solved

from autograder.exercise import exercises_of
from autograder.marking import mark_file
from autograder.python_source import definitions
from autograder.submissions import parse_submission

UNITS = ("03_accumulate", "04_training_loop")
EVERY_DAMAGE = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
EVERY_UNIT = pytest.mark.parametrize("unit", UNITS)
FILES = Path(__file__).parents[1] / "damaged"


def parsed(damage: Damage, unit: str):
    return parse_submission(Path(damage.file.format(unit=unit)), damage.bytes_of(unit))


def test_there_are_enough_kinds_of_damage():
    assert len({damage.name for damage in DAMAGES}) == len(DAMAGES) >= 25


@EVERY_UNIT
@EVERY_DAMAGE
def test_a_damaged_notebook_is_a_valid_notebook_of_its_unit_again(damage, unit):
    submission = parsed(damage, unit)
    nbformat.validate(submission.notebook, relax_add_props=False)
    assert submission.unit == unit
    assert [cell.metadata for cell in submission.notebook.cells if cell.metadata] == [
        cell["metadata"] for cell in solved(unit)["cells"] if cell["metadata"]
    ]


@EVERY_UNIT
@EVERY_DAMAGE
def test_the_last_definition_of_every_function_that_is_still_there_is_not_the_stub(damage, unit):
    found = [d for cell in parsed(damage, unit).cells for d in definitions(cell.source, damage.still_there(unit))]
    assert {d.name for d in found} == set(damage.still_there(unit))
    assert [name for name, stub in {d.name: d.stub for d in found}.items() if stub] == []


@pytest.mark.slow
@EVERY_UNIT
def test_every_exercise_that_is_still_there_is_marked_as_if_undamaged(unit, tmp_path, record_property):
    full = {exercise.id: exercise.max_score for exercise in exercises_of(unit)}
    rows, lost_in_all = [], 0.0
    for damage in DAMAGES:
        path = tmp_path / damage.file.format(unit=unit)
        path.write_bytes(damage.bytes_of(unit))
        verdicts = {verdict.exercise: verdict for verdict in mark_file(path).verdicts}
        lost = {name: full[name] - verdicts[name].score for name in damage.still_there(unit)}
        gained = sum(verdict.score for name, verdict in verdicts.items() if name not in lost)
        lost_in_all += sum(lost.values()) + gained
        rows.append(f"{damage.name:<60} {damage.loses:5} {sum(lost.values()):6g} {gained:6g}")
    head = f"{'damage to ' + unit:<60} {'gone':>5} {'lost':>6} {'gained':>6}"
    record_property("table", "\n".join([head, *rows, f"{len(DAMAGES)} damages, {lost_in_all:g} points lost or gained"]))
    assert lost_in_all == 0, "\n".join(rows)
