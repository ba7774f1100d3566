"""A class in which attacks on several units are handed in at once, beside honest students."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attack_corpus import ATTACKS, defined_in, due_to
from graded_class import GradedClass

from autograder.classroom.grading.marks_store import MarksStore
from autograder.contract.units import unit_in
from autograder.exercises import exercises_of
from autograder.publishing.nbgrader_course import course_directory

pytestmark = pytest.mark.slow

UNITS = ("00_start_here", "06_mixed_precision_and_clipping", "10_distributed", "11_running_it", "12_capstone")
"""Units whose attacks aim at texts, sizes, forks and what a process leaves to another. Others are marked one by one only."""

HONEST = ("aaron", "zoe")


def attacked_and_used(attack: Path) -> tuple[list[str], list[str]]:
    """The exercises of its unit that an attack answers, and those whose right answers it mentions."""
    names, source = [exercise.id for exercise in exercises_of(unit_in(attack.name))], attack.read_text()
    attacked = [name for name in names if name in defined_in(attack)]
    return attacked, [name for name in names if name not in attacked and name in source]


def with_answer(notebook_bytes: bytes, attacked: list[str], used: list[str], code: str) -> bytes:
    """The notebook with this code in place of what answers the first attacked exercise, and of other answers those it uses.

    What an attack costs other exercises of the same submission is seen where attacks are marked one by one.
    """
    notebook = json.loads(notebook_bytes)
    for cell in notebook["cells"]:
        name = cell["id"].removesuffix("-solution")
        if name != cell["id"] and name not in used:
            cell["source"] = code if name == attacked[0] else ""
    return json.dumps(notebook).encode()


def unstorable(text: str) -> list[str]:
    """Characters that no terminal is to get, and halves of characters."""
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_attacks_gain_nothing_cost_others_nothing_and_leave_no_text_that_does_harm(tmp_path):
    course = GradedClass(tmp_path, scheduler="", unit=UNITS[0])  # workers of this machine, which share a sandbox
    for command in ("init", "release"):
        course.do(command, "--units", ",".join(unit[:2] for unit in UNITS[1:]))
    due: dict[tuple[str, str], float] = {}
    for unit in UNITS:
        right = (course.directory / "source" / unit / f"{unit}.ipynb").read_bytes()
        for attack in (path for path in ATTACKS if unit_in(path.name) == unit and path.suffix == ".py"):
            attacked, used = attacked_and_used(attack)
            code = f"BAIT = {{'folder': {str(tmp_path)!r}}}\n" + attack.read_text()
            student = attack.stem.partition("__")[2]
            course.hand_in(student, with_answer(right, attacked, used, code), unit)
            due[student, unit] = sum(due_to(attack)[name] for name in attacked + used)
        for student in HONEST:
            course.hand_in(student, right, unit)
            due[student, unit] = sum(exercise.max_score for exercise in exercises_of(unit))
    (tmp_path / "secret.txt").write_text("the secret of the class")
    result = course.grade()
    assert f"{len(due)} marked" in result.output
    store = MarksStore(course.directory)
    marks = {submission: store.read(*submission) for submission in store.submissions()}
    assert marks.keys() == due.keys()
    assert [marks[submission] for submission in due if marks[submission].score != due[submission]] == []
    secret = course_directory(course.directory).config.MarkSubmission.secret
    for path in (*(course.directory / "marks").rglob("*.*"), *(course.directory / "autograded").rglob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        texts = strings_in(json.loads(text)) if path.suffix in (".json", ".ipynb") else [text]
        assert len(text) < 2**20
        assert [found for found in map(unstorable, texts) if found] == []
        for words in (secret, "the secret of the class", "a reference was computed"):
            assert words not in "".join(texts), path
    assert unstorable(result.output + result.complaints) == []


def strings_in(value: object) -> list[str]:
    """All texts in a JSON value, but for the code that was handed in."""
    if isinstance(value, dict):
        return [text for key, item in value.items() if key != "source" for text in strings_in(item)]
    return [text for item in value for text in strings_in(item)] if isinstance(value, list) else [str(value)]
