"""Which statements of given cells are run: those that the student's code needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damages import solved

from autograder.contract.cell import Cell
from autograder.contract.units import UNITS
from autograder.isolation.demonstrations import demonstrations
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import _statements, run
from autograder.reading.submissions import parse_submission
from autograder.released import exercises_in, released_content


def run_of(given: str, students: str) -> list[str]:
    """The statements of a given cell that are run when a student's cell follows."""
    cells = [Cell("given", given, given=True), Cell("student's", students)]
    skipped = demonstrations(cells)
    found = [statement for number, statement in enumerate(_statements(cells)) if number not in skipped]
    return [statement.source for statement in found if statement.cell.given]


@pytest.mark.parametrize(
    "given",
    [
        "for k in range(3):\n    print(k)",
        "print('shown')",
        "with open('/dev/null') as file:\n    file.read()",
        "import time\ntime_needed = time.time()",
        "def helper():\n    return 1\nhelper()",
        "values = [1, 2]\nfor value in values:\n    values.append(value)",
        "if 1:\n    import torch",
    ],
)
def test_what_the_student_does_not_use_is_not_run(given):
    assert run_of(given, "def answer(k, value, file):\n    return k + value + file") == []


@pytest.mark.parametrize(
    ("given", "students", "wanted"),
    [
        ("import torch\nimport math", "def answer():\n    return torch.ones(1)", ["import torch"]),
        ("a = 1\nb = a + 1\nc = b + 1\nd = 0", "answer = c", ["a = 1", "b = a + 1", "c = b + 1"]),
        ("one = 1\ndef helper():\n    return one", "def answer():\n    return helper()", None),
        ("table = {}\nfor k in range(3):\n    table[k] = k * k", "def answer():\n    return table[2]", None),
        ("a = []\nb = a\nb.append(1)\nother = 0", "def answer():\n    return a", ["a = []", "b = a", "b.append(1)"]),
        ("import torch\ntorch.manual_seed(3)", "def answer():\n    return 1", None),
        ("import os\nos.environ['A_SETTING'] = 'b'", "def answer():\n    return 1", None),
        ("state = [0]\nprint(state.pop())", "class Answer:\n    held = state", None),
        ("x = 1\nprint('shown')", "def answer():\n    return globals()['x']", None),
        ("x = 1\nprint('shown')", "answer = eval('x')", None),
        ("x = 1\nprint(2)", "def answer(:\n    return x", ["x = 1"]),
        ("y = 0\nprint(2)", "def answer():\n    global y\n    y += 1", ["y = 0"]),
        ("z = 0\nprint(2)", "answer = [z for _ in range(2)]", ["z = 0"]),
    ],
)
def test_what_the_student_uses_is_run_with_what_that_needs_and_what_may_change_it(given, students, wanted):
    assert run_of(given, students) == (wanted or [statement.source for statement in _statements([Cell("given", given)])])


def test_a_student_s_own_cells_are_run_whole():
    cells = [Cell("student's", "for k in range(3):\n    print(k)\nanswer = 1")]
    assert demonstrations(cells) == set()
    assert run(cells, Limits()).printed == {"student's": "0\n1\n2\n"}


@pytest.mark.parametrize("unit", UNITS)
def test_of_a_solved_notebook_hardly_anything_given_is_run_and_the_answers_are_the_same(unit):
    submission = parse_submission(Path(f"{unit}.ipynb"), json.dumps(solved(unit)).encode())
    given = [number for number, statement in enumerate(_statements(submission.cells)) if statement.cell.given]
    skipped = demonstrations(submission.cells)
    assert skipped <= set(given)
    assert len(skipped) > len(given) / 2
    loaded = run(submission.cells, Limits())
    assert not loaded.troubles
    assert loaded.namespace.keys() >= set(exercises_in(released_content(unit)))
