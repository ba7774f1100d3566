"""A class in which every attack on the practice exercise is handed in at once, beside honest students."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from graded_class import GradedClass

from autograder.classroom.grading.marks_store import MarksStore
from autograder.publishing.nbgrader_course import course_directory

pytestmark = pytest.mark.slow

UNIT = "00_start_here"
ATTACKS = sorted((Path(__file__).parents[3] / "attacks").glob(f"{UNIT}__*.py"))
HONEST = ("aaron", "zoe")


def with_answer(released: bytes, code: str) -> bytes:
    notebook = json.loads(released)
    (cell,) = [cell for cell in notebook["cells"] if cell["id"] == "average_gradients-solution"]
    cell["source"] = code
    return json.dumps(notebook).encode()


def unstorable(text: str) -> list[str]:
    """Characters that no terminal is to get, and halves of characters."""
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_attacks_gain_nothing_cost_others_nothing_and_leave_no_text_that_does_harm(tmp_path, scheduler):
    course = GradedClass(tmp_path, scheduler, unit=UNIT)
    for attack in ATTACKS:
        bait = f"BAIT = {{'folder': {str(tmp_path)!r}}}\n"
        course.hand_in(attack.stem.partition("__")[2], with_answer(course.untouched, bait + attack.read_text()))
    for student in HONEST:
        course.hand_in(student, course.right)
    (tmp_path / "secret.txt").write_text("the secret of the class")
    result = course.grade()
    assert f"{len(ATTACKS) + len(HONEST)} marked" in result.output
    store = MarksStore(course.directory)
    scores = {student: store.read(student, unit).score for student, unit in store.submissions()}
    assert scores == dict.fromkeys(HONEST, 1.0) | {attack.stem.partition("__")[2]: 0.0 for attack in ATTACKS}
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
