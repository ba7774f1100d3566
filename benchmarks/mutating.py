"""Mutants of right functions: one small change each, made by mutmut's operators and by a few that move statements.

A mutant is known by its key, ``exercise/source: before → after``, so a list of mutants can be read and stays valid when
lines are added elsewhere.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import libcst as cst
from mutmut.mutation.mutators import mutation_operators

from autograder.contract.cell import Cell
from autograder.exercises import all_exercises, exercises_of
from autograder.publishing.model_answers import model_answers
from autograder.publishing.solution_script import source_notebook
from autograder.reading.submissions import parse_submission
from autograder.released import released_content

ROOT = Path(__file__).resolve().parents[1]
SAMPLES, SOLUTIONS = ROOT / "tests" / "submissions", ROOT / "solutions"
REFERENCE, ANSWER = "reference", "answer"
"""The sources of mutants that are made from a unit's own solutions, and from its second model answers."""


@dataclass(frozen=True)
class Source:
    """A right function: the code that is mutated, and the cells that are run before it."""

    unit: str
    exercise: str
    name: str
    text: str
    before: tuple[Cell, ...] = ()

    def __str__(self) -> str:
        return f"{self.exercise}/{self.name}"


@dataclass(frozen=True)
class Mutant:
    """A source with one change."""

    source: Source
    text: str
    change: str

    @property
    def key(self) -> str:
        return f"{self.source}: {self.change}"

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (*self.source.before, Cell("mutant", self.text))

    @property
    def digest(self) -> str:
        return hashlib.sha256("\0".join((str(self.source), self.text)).encode()).hexdigest()[:16]


def sources_of(unit: str) -> tuple[Source, ...]:
    """The reference solution of each exercise of a unit, its second model answer, and all accepted samples."""
    ids = [exercise.id for exercise in exercises_of(unit)]
    accepted = (_sample(path) for path in sorted((SAMPLES / unit / "accepted").glob("*.py")))
    return (*map(reference, ids), *map(_answer, ids), *accepted)


@cache
def reference(exercise_id: str) -> Source:
    """The solution of an exercise, after what the notebook gives to students."""
    unit = all_exercises()[exercise_id].unit
    cells = _solved(unit)
    answer = [cell for cell in cells if re.search(rf"^(def|class) {exercise_id}\b", cell.source, re.MULTILINE)][-1]
    given = "\n".join(_definitions(cell.source) for cell in cells if cell is not answer)
    return Source(unit, exercise_id, REFERENCE, answer.source, (Cell("given", given),))


def _answer(exercise_id: str) -> Source:
    """The second model answer to an exercise, after the notebook's solutions."""
    solution = reference(exercise_id)
    before = (*solution.before, Cell("solution", solution.text))
    return Source(solution.unit, exercise_id, ANSWER, model_answers(all_exercises()[exercise_id])[1].source, before)


def _definitions(text: str) -> str:
    """The imports, definitions and assignments of a cell: all that a function further down may use."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    return "\n".join(ast.unparse(node) for node in ast.parse(text).body if isinstance(node, kept))


def _sample(path: Path) -> Source:
    text = path.read_text()
    exercise = next(
        node.value.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXERCISE" and isinstance(node.value, ast.Constant)
    )
    return Source(path.parents[1].name, str(exercise), path.stem, text)


@cache
def _solved(unit: str) -> tuple[Cell, ...]:
    """The code of a solved notebook as the marker would run it."""
    answers = {cell.id: cell.source for cell in source_notebook(SOLUTIONS / f"{unit}.py").cells}
    notebook = json.loads(json.dumps(released_content(unit)))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            lines = answers[cell["id"]].split("\n")
            cell["source"] = "\n".join(line for line in lines if "### BEGIN SOL" not in line and "### END SOL" not in line)
    return tuple(parse_submission(Path(f"{unit}.ipynb"), json.dumps(notebook).encode()).cells)


def mutants_of(source: Source) -> tuple[Mutant, ...]:
    """All mutants of a source that are different programs, in the order of their lines."""
    seen, found = {ast.dump(ast.parse(source.text))}, []
    for text in _mutated(source.text):
        try:
            program = ast.dump(ast.parse(text))
        except SyntaxError:
            continue
        if program not in seen:
            seen.add(program)
            found.append(Mutant(source, text, _change(source.text, text)))
    return tuple(found)


def chosen(mutants: Sequence[Mutant], most: int | None) -> tuple[Mutant, ...]:
    """At most so many of these, always the same ones."""
    if most is None or len(mutants) <= most:
        return tuple(mutants)
    kept = set(sorted(mutant.digest for mutant in mutants)[:most])
    return tuple(mutant for mutant in mutants if mutant.digest in kept)


def _mutated(text: str) -> Iterator[str]:
    module = cst.parse_module(text)
    for node in _nodes(module):
        for kind, operator in (*mutation_operators, *MOVES):
            if isinstance(node, kind):
                for new in operator(node):
                    yield cst.ensure_type(module.deep_replace(node, new), cst.Module).code


def _nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What is worth a change: functions and classes, without their types, messages and documentation."""
    for child in node.children:
        if isinstance(node, cst.Module) and not isinstance(child, cst.FunctionDef | cst.ClassDef):
            continue
        if isinstance(child, cst.Annotation | cst.Decorator) or _is_text_for_people(child):
            continue
        yield child
        yield from _nodes(child)


def _is_text_for_people(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Raise):
        return True
    if isinstance(node, cst.Expr):
        return isinstance(node.value, cst.SimpleString | cst.ConcatenatedString) or _is_call_of(node.value, "print")
    return isinstance(node, cst.FormattedString)


def _is_call_of(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == name


def _change(before: str, after: str) -> str:
    """What differs, line by line; of a line that is gone or moved, also the line it stood behind, or stands behind now."""
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[:2] in ("- ", "+ ", "  ")]
    lines = [line for line in lines if line[2:].strip()]
    removed, added = ([line[2:].strip() for line in lines if line[:2] == sign] for sign in ("- ", "+ "))
    if added and sorted(removed) != sorted(added):
        return f"{' ⏎ '.join(removed)} → {' ⏎ '.join(added)}"
    at = next(k for k, line in enumerate(lines) if line[:2] == ("+ " if added else "- "))
    behind = next((line[2:].strip() for line in reversed(lines[:at]) if line[:2] != "- "), "")
    return f"{' ⏎ '.join(removed)} → {'moved' if added else 'gone'}, behind {behind}"


def _without_a_statement(block: cst.IndentedBlock) -> Iterator[cst.IndentedBlock]:
    body = list(block.body)
    for k, statement in enumerate(body):
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            continue
        if isinstance(statement, cst.SimpleStatementLine) and _is_text_for_people(statement.body[0]):
            continue
        rest = [*body[:k], *body[k + 1 :]]
        yield block.with_changes(body=rest or [cst.parse_statement("pass")])


def _two_swapped(block: cst.IndentedBlock) -> Iterator[cst.IndentedBlock]:
    body = list(block.body)
    for k in range(len(body) - 1):
        yield block.with_changes(body=[*body[:k], body[k + 1], body[k], *body[k + 2 :]])


def _moved_across_a_border(block: cst.IndentedBlock) -> Iterator[cst.IndentedBlock]:
    """The last statement of a loop or condition moved behind it, its first in front of it, the next one after it into it."""
    body = list(block.body)
    for k, statement in enumerate(body):
        inner = getattr(statement, "body", None)
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) or not isinstance(inner, cst.IndentedBlock):
            continue
        inside = list(inner.body)
        if len(inside) > 1:
            shorter = statement.with_deep_changes(inner, body=inside[:-1])
            yield block.with_changes(body=[*body[:k], shorter, inside[-1], *body[k + 1 :]])
            shorter = statement.with_deep_changes(inner, body=inside[1:])
            yield block.with_changes(body=[*body[:k], inside[0], shorter, *body[k + 1 :]])
        if k + 1 < len(body):
            longer = statement.with_deep_changes(inner, body=[*inside, body[k + 1]])
            yield block.with_changes(body=[*body[:k], longer, *body[k + 2 :]])
        if k > 0:
            longer = statement.with_deep_changes(inner, body=[body[k - 1], *inside])
            yield block.with_changes(body=[*body[: k - 1], longer, *body[k + 1 :]])


def _condition_fixed(node: cst.If) -> Iterator[cst.If]:
    for value in ("True", "False"):
        yield node.with_changes(test=cst.Name(value))


def _one_less(node: cst.Integer) -> Iterator[cst.BaseExpression]:
    yield cst.parse_expression(f"({node.evaluated_value - 1})")


def _wrapped_less(node: cst.Call) -> Iterator[cst.BaseExpression]:
    """A call replaced by its first argument, such as ``abs(x)`` by ``x``; a method by its object, ``x.detach()`` by ``x``."""
    if isinstance(node.func, cst.Attribute):
        yield node.func.value
    if node.args and not node.args[0].star:
        yield node.args[0].value


def _arguments_swapped(node: cst.Call) -> Iterator[cst.Call]:
    args = list(node.args)
    if len(args) == 2 and not any(arg.star or arg.keyword for arg in args):
        yield node.with_changes(
            args=[node.args[0].with_changes(value=args[1].value), args[1].with_changes(value=args[0].value)]
        )


MOVES = (
    (cst.IndentedBlock, _without_a_statement),
    (cst.IndentedBlock, _two_swapped),
    (cst.IndentedBlock, _moved_across_a_border),
    (cst.If, _condition_fixed),
    (cst.Integer, _one_less),
    (cst.Call, _wrapped_less),
    (cst.Call, _arguments_swapped),
)
"""Operators that mutmut does not have: mistakes of training loops are mostly statements in the wrong place."""
