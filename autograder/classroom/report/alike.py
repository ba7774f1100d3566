"""Answers that are alike beyond what the exercise makes alike. A reason to look at two texts, and never a verdict.

An answer becomes the set of its runs of :data:`RUN` tokens, without comments, docstrings, type hints and layout, and with one
name for all names that students chose. Left out are runs that the released notebook or a model answer has, and those that many
students have: these are what the exercise makes alike. Two students' answers to a unit are alike if most of what remains of
both is the same. This compares sets of k-grams, as MOSS does (Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for
Document Fingerprinting", SIGMOD 2003), but all of them: answers are short, so there is no need to choose some.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from autograder.classroom.grading.marks_store import MarksStore
from autograder.exercises import exercises_of
from autograder.publishing.model_answers import model_answers
from autograder.released import released_content

RUN = 6
"""Tokens in a run: more than a call with one argument, fewer than a statement with a decision in it."""
MAX_SHARE = 0.2
"""A run that a larger share of the class has is what the exercise makes alike."""
MIN_STUDENTS = 10
"""In a smaller class two students are more than :data:`MAX_SHARE` of it."""
MIN_SHARED, MIN_OVERLAP = 25, 0.6
"""Runs that two students have in common, in number and as a share of the runs of both, from which on they are alike."""

Runs = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class AlikeGroup:
    """Students whose answers to a unit are alike.

    Attributes:
        unit: id.
        students: ids, in order.
        exercises: in which they have runs in common, those with most first.
        overlap: the smallest share of common runs of the pairs that make the group.
    """

    unit: str
    students: tuple[str, ...]
    exercises: tuple[str, ...]
    overlap: float


@dataclass(frozen=True)
class AlikeReport:
    """The groups found, and the units that too few students have handed in to compare."""

    groups: tuple[AlikeGroup, ...]
    too_small: tuple[str, ...]


def alike_report(store: MarksStore, submissions: Collection[tuple[str, str]]) -> AlikeReport:
    """The answers of these (student, unit) that are alike, read from the marked notebooks."""
    groups: list[AlikeGroup] = []
    small = []
    for unit in sorted({unit for _, unit in submissions}):
        answers = {student: _answers(store, student, unit) for student, other in sorted(submissions) if other == unit}
        answers = {student: texts for student, texts in answers.items() if texts}
        if len(answers) < MIN_STUDENTS:
            small.append(unit)
        groups += alike_groups(unit, answers, _known(unit))
    return AlikeReport(tuple(groups), tuple(small))


def _answers(store: MarksStore, student: str, unit: str) -> dict[str, str]:
    """What a student wrote for each exercise; empty if the marked notebook is gone or damaged."""
    try:
        cells = json.loads(store.notebook_path(student, unit).read_bytes())["cells"]
        sources = {cell["metadata"].get("nbgrader", {}).get("grade_id", ""): "".join(cell["source"]) for cell in cells}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {
        name: sources[cell]
        for name in (exercise.id for exercise in exercises_of(unit))
        if (cell := f"{name}-solution") in sources
    }


def _known(unit: str) -> dict[str, list[str]]:
    """For each exercise of a unit the code of the released notebook and the model answers."""
    cells = (released_content(unit) or {"cells": []})["cells"]
    released = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    graded = [exercise for exercise in exercises_of(unit) if exercise.graded]
    return {exercise.id: [*released, *(answer.source for answer in model_answers(exercise))] for exercise in graded}


def alike_groups(
    unit: str, answers: Mapping[str, Mapping[str, str]], known: Mapping[str, Sequence[str]]
) -> tuple[AlikeGroup, ...]:
    """The groups of students whose answers to a unit are alike, the most alike first; none in a class that is too small.

    Args:
        unit: id.
        answers: by student and exercise.
        known: for each exercise the texts that all students may have seen, or may well find.
    """
    if len(answers) < MIN_STUDENTS:
        return ()
    expected = {exercise: frozenset().union(*map(runs, texts)) for exercise, texts in known.items()}
    found = {
        student: {
            (exercise, run) for exercise, text in texts.items() for run in runs(text) - expected.get(exercise, frozenset())
        }
        for student, texts in answers.items()
    }
    holders: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for student in sorted(found):
        for one in found[student]:
            holders[one].append(student)
    rare = {one: students for one, students in holders.items() if len(students) <= MAX_SHARE * len(answers)}
    sizes = Counter(student for students in rare.values() for student in students)
    common: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (exercise, _), students in rare.items():
        for pair in combinations(students, 2):
            common[pair][exercise] += 1
    overlaps = {
        pair: shared / (sizes[pair[0]] + sizes[pair[1]] - shared)
        for pair, counts in common.items()
        if (shared := counts.total()) >= MIN_SHARED
    }
    pairs = {pair: overlap for pair, overlap in overlaps.items() if overlap >= MIN_OVERLAP}
    groups = []
    for group in _connected(pairs):
        inside = [pair for pair in pairs if pair[0] in group]
        exercises = sum((common[pair] for pair in inside), Counter[str]())
        ranked = tuple(name for name, _ in exercises.most_common())
        groups.append(AlikeGroup(unit, tuple(sorted(group)), ranked, min(pairs[pair] for pair in inside)))
    return tuple(sorted(groups, key=lambda group: (-group.overlap, group.students)))


def _connected(pairs: Mapping[tuple[str, str], float]) -> list[set[str]]:
    """The students of these pairs, in groups that no pair connects."""
    groups: list[set[str]] = []
    for pair in pairs:
        touched = [group for group in groups if group & {*pair}]
        groups = [group for group in groups if group not in touched] + [{*pair}.union(*touched)]
    return groups


def runs(text: str) -> Runs:
    """The runs of tokens in a text; none if it is not Python."""
    tokens = list(_tokens(text))
    return frozenset(zip(*(tokens[start:] for start in range(RUN)), strict=False))


def _tokens(text: str) -> Iterator[str]:
    try:
        tree = _Plain().visit(ast.parse(text))
        chosen = set(_chosen_names(tree))
        before = ""
        for token in tokenize.generate_tokens(io.StringIO(ast.unparse(tree)).readline):
            if token.type == tokenize.STRING:
                yield "text"
            elif (
                token.type == tokenize.NAME and token.string in chosen and before != "." and not keyword.iskeyword(token.string)
            ):
                yield "name"
            elif token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP):
                yield token.string
            before = token.string
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


class _Plain(ast.NodeTransformer):
    """Removes what says nothing about how an answer computes: texts that stand alone, and type hints."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else ast.Pass()


def _chosen_names(tree: ast.AST) -> Iterator[str]:
    """The names that the text itself gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
