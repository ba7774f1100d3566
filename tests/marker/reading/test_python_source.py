"""A text's meaning as Python: found out once, and never at the price of its syntax tree."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import pytest
from damages import solved

from autograder.reading import python_source
from autograder.reading.python_source import PythonSource, statements
from autograder.reading.submissions import parse_submission
from autograder.released import exercises_in, released_content

UNIT = "04_training_loop"


@pytest.fixture
def parsed_texts(monkeypatch) -> Counter[str]:
    """How often each text is parsed."""
    texts: Counter[str] = Counter()
    parse = python_source._body

    def counting_parse(text: str, line: int = 0) -> list[ast.stmt]:
        texts[text] += 1
        return parse(text, line)

    monkeypatch.setattr(python_source, "_body", counting_parse)
    return texts


def test_a_text_is_parsed_once_whatever_is_asked_about_it(parsed_texts):
    source = PythonSource("def f():\n    return 1", ("f",))
    assert not parsed_texts
    for _ in range(2):
        assert source.is_python
        assert [definition.name for definition in source.definitions(("f",))] == ["f"]
        assert source.with_fixed_indentation is source
    assert parsed_texts.total() == 1


def test_of_a_solved_notebook_only_the_answers_are_parsed_and_each_of_them_once(parsed_texts):
    parse_submission(Path(f"{UNIT}.ipynb"), json.dumps(solved(UNIT)).encode())
    assert len(parsed_texts) == len(exercises_in(released_content(UNIT)))
    assert set(parsed_texts.values()) == {1}


def test_a_notebook_recognised_only_by_its_functions_is_parsed_once(parsed_texts):
    cells = [cell | {"metadata": {}} for cell in solved(UNIT)["cells"] if cell["cell_type"] == "code"]
    parse_submission(Path("homework.ipynb"), json.dumps({"cells": cells}).encode())
    assert set(parsed_texts.values()) == {1}


def test_a_text_too_long_to_be_parsed_defines_nothing(parsed_texts):
    source = PythonSource("f = 1\n" * 100_000, ("f",))
    assert (source.is_python, source.definitions(("f",)), source.statement_set) == (False, [], None)
    assert not parsed_texts


def test_layout_and_comments_do_not_change_the_set_of_statements():
    assert PythonSource("x=1;y = 2 # two").statement_set == PythonSource("y = 2\n\nx = 1").statement_set
    assert PythonSource("x = 1").statement_set != PythonSource("x = 2").statement_set
    assert PythonSource("x = (").statement_set is None


@pytest.mark.parametrize("text", ["    x = 1\n    y = 2", "if x:\n        y = 1\n\tz = 2"])
def test_indentation_that_is_the_only_thing_wrong_is_fixed(text):
    source = PythonSource(text)
    assert not source.is_python
    assert source.with_fixed_indentation.is_python
    assert source.with_fixed_indentation.text.split() == text.split()


def test_a_text_with_other_faults_is_left_as_it_is():
    source = PythonSource("    x = (")
    assert source.with_fixed_indentation is source


def test_definitions_around_one_that_is_not_python_are_still_found():
    text = "def f():\n    return 1\n\ndef g(:\n    pass\n\ndef h():\n    pass"
    found = PythonSource(text, ("f", "g", "h")).definitions(("f", "g", "h"))
    assert [(d.name, d.stub, d.lines) for d in found] == [("f", False, (1, 2)), ("g", False, None), ("h", True, (7, 8))]
    assert [s.error.lineno for s in statements(text) if s.error] == [4]
