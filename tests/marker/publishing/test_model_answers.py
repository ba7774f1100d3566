"""Every exercise has two model answers that differ in structure.

That they are right is tested elsewhere: the first is in a solution script, the second is a sample submission.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

import pytest

from autograder.exercises import all_exercises
from autograder.isolation.visible_modules import is_visible, modules_in, packages_folder
from autograder.publishing.model_answers import model_answers
from autograder.released import released_content

EXERCISES = list(all_exercises().values())
BY_ID = {"ids": lambda exercise: exercise.id}
MOST_ALIKE = 0.75
"""Two ways to write the same loop share this much at most; a solution with other names, or with two statements changed places,
shares 0.95 with itself."""


def shape(source: str) -> list[str]:
    """A program without its docstrings and its own names: kinds of syntax, and what it uses of Python and of libraries."""

    def kinds(node: ast.AST) -> Iterator[str]:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body.pop(0)
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Load | ast.Store | ast.arguments):
            yield type(node).__name__ + (f".{node.attr}" if isinstance(node, ast.Attribute) else "")
            for child in ast.iter_child_nodes(node):
                yield from kinds(child)

    return list(kinds(ast.parse(source)))


@pytest.mark.parametrize("exercise", EXERCISES, **BY_ID)
def test_model_answers_differ_in_structure(exercise):
    first, second = (shape(answer.source) for answer in model_answers(exercise))
    assert SequenceMatcher(None, first, second, autojunk=False).ratio() <= MOST_ALIKE


def test_a_renamed_answer_counts_as_the_same():
    source = model_answers(all_exercises()["train_epoch"])[0].source
    renamed = source.replace("window", "chunk").replace("losses", "seen").replace("stream", "rest")
    assert renamed != source
    assert shape(renamed) == shape(source)


@pytest.mark.parametrize("exercise", EXERCISES, **BY_ID)
def test_each_answer_says_in_a_sentence_what_it_shows(exercise):
    for answer in model_answers(exercise):
        assert answer.shows[0].isupper()
        assert answer.shows.endswith(".")
        assert "\n" not in answer.shows
        assert "SOLUTION" not in answer.source


@pytest.mark.parametrize("exercise", EXERCISES, **BY_ID)
def test_no_answer_is_in_a_released_notebook(exercise):
    released = "\n".join("".join(cell["source"]) for cell in released_content(exercise.unit)["cells"])
    for answer in model_answers(exercise):
        body = ast.parse(answer.source).body
        written = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert not [node.name for node in written if ast.get_source_segment(answer.source, node) in released]


def test_no_sandbox_shows_answers():
    answers = [module for module, file in modules_in(packages_folder()) if file.parent.name == "answers"]
    assert len(answers) == len(EXERCISES)
    assert not [module for module in answers if is_visible(module)]
