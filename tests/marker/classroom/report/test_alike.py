"""Answers that are alike are found whatever names and comments they have, and what an exercise makes alike is left out."""

from __future__ import annotations

import json
import re

import pytest
from sample_class import CLASS, FOLDER, UNIT
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.grading.marks_store import MarksStore, StudentMarks
from autograder.classroom.report.alike import MAX_SHARE, MIN_SHARED, MIN_STUDENTS, alike_groups, runs
from autograder.exercises import exercises_of
from autograder.publishing.model_answers import model_answers
from autograder.publishing.nbgrader_course import CONFIG, config_text
from autograder.released import released_content

pytestmark = pytest.mark.slow

ANSWER = '''
def {name}(model, optimizer, loss_fn, micro_batches, accumulation_steps):
    """{doc}"""
    {total} = []  # {doc}
    {count} = len(micro_batches)
    for {k}, (x, y) in enumerate(micro_batches):
        if {k} % accumulation_steps == 0:
            optimizer.zero_grad(set_to_none=True)
            {width} = min(accumulation_steps, {count} - {k})
        {loss} = loss_fn(model(x), y) / {width}
        {loss}.backward()
        {total}.append({loss}.item() * {width})
        if ({k} + 1) % accumulation_steps == 0 or {k} + 1 == {count}:
            optimizer.step()
    return sum({total}) / {count}
'''
NAMES = ("name", "doc", "total", "count", "k", "width", "loss")
ORIGINAL = ANSWER.format(**dict(zip(NAMES, ("train_epoch", "Mine.", "losses", "n", "k", "width", "loss"), strict=True)))
DISGUISED = ANSWER.format(**dict(zip(NAMES, ("train_epoch", "My own!", "seen", "many", "i", "w", "out"), strict=True)))


def samples(exercise: str) -> list[str]:
    """Right and wrong answers to an exercise, each written for another reason; the first of any that say the same."""
    texts = [path.read_text() for kind in ("accepted", "mistakes") for path in sorted((FOLDER / UNIT / kind).glob("*.py"))]
    chosen = [re.sub(r"^[A-Z]+ = .*\n", "", text, flags=re.MULTILINE) for text in texts if f'EXERCISE = "{exercise}"' in text]
    return list({runs(text): text for text in chosen}.values())


def class_of(*texts: str) -> dict[str, dict[str, str]]:
    return {f"s{k:02}": {"train_epoch": text} for k, text in enumerate(texts)}


@pytest.fixture(scope="module")
def others() -> list[str]:
    """Answers that have nothing rare in common."""
    found: list[str] = []
    for text in samples("train_epoch"):
        if len(found) < 3 * MIN_STUDENTS and not alike_groups(UNIT, class_of(*found, text, *[""] * MIN_STUDENTS), KNOWN):
            found.append(text)
    assert len(found) == 3 * MIN_STUDENTS
    return found


KNOWN = {"train_epoch": [answer.source for e in exercises_of(UNIT) if e.id == "train_epoch" for answer in model_answers(e)]}


def test_other_names_comments_and_layout_do_not_hide_that_answers_are_alike(others):
    assert runs(ORIGINAL) == runs(DISGUISED.replace("\n    return", "\n\n\n    return"))
    (group,) = alike_groups(UNIT, class_of(*others, ORIGINAL, DISGUISED), KNOWN)
    assert group.students == (f"s{len(others):02}", f"s{len(others) + 1:02}")
    assert (group.exercises, group.overlap) == (("train_epoch",), 1.0)


def test_an_answer_that_was_changed_a_little_is_still_found_and_one_that_was_rewritten_is_not(others):
    changed = DISGUISED.replace("many = len(micro_batches)", "many = len(micro_batches)\n    model.train()")
    (group,) = alike_groups(UNIT, class_of(*others, ORIGINAL, changed), KNOWN)
    assert 0.6 <= group.overlap < 1
    assert alike_groups(UNIT, class_of(*others, ORIGINAL), KNOWN) == ()


def test_answers_written_for_different_reasons_are_alike_only_where_one_is_a_variant_of_another():
    texts = samples("train_epoch")
    groups = alike_groups(UNIT, class_of(*texts), KNOWN)
    in_groups = {student for group in groups for student in group.students}
    assert len(in_groups) < len(texts) / 4


def test_what_the_course_shows_makes_nobody_alike(others):
    model_answer = KNOWN["train_epoch"][0]
    assert alike_groups(UNIT, class_of(*others, model_answer, model_answer), KNOWN) == ()
    assert alike_groups(UNIT, class_of(*others, ORIGINAL, DISGUISED), {"train_epoch": [*KNOWN["train_epoch"], ORIGINAL]}) == ()


def test_what_many_in_the_class_wrote_makes_nobody_alike(others):
    few = int(MAX_SHARE * 2 * MIN_STUDENTS)
    (group,) = alike_groups(UNIT, class_of(*others[: 2 * MIN_STUDENTS - few], *[ORIGINAL] * few), KNOWN)
    assert len(group.students) == few
    assert alike_groups(UNIT, class_of(*others[: 2 * MIN_STUDENTS - few - 1], *[ORIGINAL] * (few + 1)), KNOWN) == ()


def test_groups_are_what_pairs_connect(others):
    left, right = (
        f"{ORIGINAL}\ndef more(x):\n    return " + " + ".join(f"x.{side}{k}" for k in range(10)) for side in ("left", "right")
    )
    assert alike_groups(UNIT, class_of(*others, left, right), KNOWN) == ()
    (group,) = alike_groups(UNIT, class_of(*others, left, ORIGINAL, right), KNOWN)
    assert len(group.students) == 3


def test_short_answers_and_small_classes_are_not_compared(others):
    short = "def train_epoch(model):\n    return [parameter.grad.norm().item() for parameter in model.parameters()]"
    assert 0 < len(runs(short)) < MIN_SHARED
    assert alike_groups(UNIT, class_of(*others, short, short), KNOWN) == ()
    assert alike_groups(UNIT, class_of(*others[: MIN_STUDENTS - 3], ORIGINAL, ORIGINAL), KNOWN) == ()


@pytest.mark.parametrize("text", ["", "def f(:", "x = (" * 10_000, "a\x00b", "'''"])
def test_a_text_that_is_not_python_has_no_runs(text):
    assert runs(text) == frozenset()


@pytest.fixture
def folder(tmp_path, others):
    """A class with marked notebooks, of which two are alike and one is damaged."""
    (tmp_path / CONFIG).write_text(config_text(""))
    template, store = json.dumps(released_content(UNIT)), MarksStore(tmp_path)
    for student, texts in class_of(*others[: 2 * MIN_STUDENTS], ORIGINAL, DISGUISED).items():
        notebook = json.loads(template)
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "train_epoch-solution":
                cell["source"] = texts["train_epoch"]
        store.write(StudentMarks(student, UNIT, "k", "cpu", 1.0, CLASS.marks[0].exercises), json.dumps(notebook))
    store.notebook_path("s00", UNIT).write_text("{")
    return tmp_path


def test_the_report_names_students_with_answers_that_are_alike_only_if_it_is_asked_to(folder):
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "alike" not in (folder / "report.html").read_text().partition("<body>")[2]
    CliRunner().invoke(app, ["report", str(folder), "--alike", "--overwrite"])
    (section,) = re.findall(r"<h2>Answers that are alike</h2>.*?</section>", (folder / "report.html").read_text(), re.DOTALL)
    assert re.search(r"<td>s20\s*, s21\s*</td>", section)
    assert "Alike is not copied." in section
    assert not re.search(r"cheat|plagiar|suspect|fraud|guilty", section, re.IGNORECASE)


def test_the_report_says_which_units_are_too_small_to_compare(folder):
    for path in (folder / "marks").glob("s1*"):
        (path / f"{UNIT}.json").unlink()
        (path / f"{UNIT}.ipynb").unlink()
    for student in ("s02", "s03"):
        MarksStore(folder).notebook_path(student, UNIT).unlink()
    CliRunner().invoke(app, ["report", str(folder), "--alike"])
    assert "too few students have marks: unit 04 · training loop" in (folder / "report.html").read_text()
