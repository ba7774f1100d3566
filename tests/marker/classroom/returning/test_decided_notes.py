"""What an instructor has decided stands on the student's page, above the verdict that it is about."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.classroom.gradebook.cell_grades import PointsOfCell
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.returning.decided_notes import changed_points

pytestmark = pytest.mark.slow

UNIT = "03_accumulate"
VERDICT = "a verdict of the marker"


@pytest.fixture(scope="module")
def pages(released, tmp_path_factory) -> dict[str, str]:
    """The pages of two students.

    ada handed in 26 hours late. She has a comment and one extra point for ``accumulate_gradient``, asked for a regrade of
    ``sum_form_lr``, and ``same_update`` does not count. bob handed in at the same time, has three days more,
    and was answered although he had not asked.
    """
    made = released.copied_to(tmp_path_factory.mktemp("decided"))
    config = made.directory / "nbgrader_config.py"
    config.write_text(config.read_text().replace("per_day = 0", "per_day = 10"))
    notebook = nbformat.reads(made.right.decode(), as_version=4)
    for cell in notebook.cells:
        if cell.get("id") == "sum_form_lr":
            cell.outputs = [nbformat.v4.new_output("stream", text=VERDICT)]
    for student in ("ada", "bob"):
        work = nbformat.writes(notebook)
        made.hand_in(student, work.encode()).with_name("timestamp.txt").write_text("2026-11-02 12:00:00 UTC\n")
        ClassToMark(made.directory).recorder.record(student, UNIT, work)
    with Gradebook(f"sqlite:///{made.directory}/gradebook.db") as gradebook:
        for exercise, points in (("accumulate_gradient", 4), ("sum_form_lr", 1), ("same_update", 2)):
            gradebook.find_grade(exercise, UNIT, UNIT, "ada").auto_score = points
        gradebook.find_grade("accumulate_gradient", UNIT, UNIT, "ada").extra_credit = 1
        gradebook.find_comment("accumulate_gradient-solution", UNIT, UNIT, "ada").manual_comment = "Well *thought*: $x<y$."
        gradebook.db.commit()
    requests = made.root / "requests.csv"
    requests.write_text(
        "student,unit,exercise,reason,answer,points\nada,03,sum_form_lr,Is <b>it</b> not right?,It is & was,2\n"
        "bob,03,sum_form_lr,,Read the hint.,\n"
    )
    made.do("drop", "03", "same_update", "--reason", "Its text was <unclear>.")
    made.do("due", "03", "2026-11-01 11:00 Europe/Berlin")
    made.do("extend", "bob", "03", "3")
    made.do("regrade", str(requests))
    made.do("feedback")
    return {path.parts[-3]: path.read_text() for path in (made.directory / "feedback").rglob("*.html")}


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def head(page: str) -> str:
    """The text of the table above the notebook."""
    return text_of(page.partition('<table class="earned">')[2].partition("</table>")[0])


def boxes(page: str) -> list[str]:
    """The texts of what comes from the instructor, in order."""
    return [
        text_of(part.partition("</div>")[0]).partition("From your instructor ")[2] for part in page.split("from-instructor")[1:]
    ]


def test_the_table_of_points_says_what_was_changed_dropped_and_late(pages):
    assert head(pages["ada"]) == (
        "exercise points ◐ accumulate_gradient 5 of 6 partly, changed by your instructor, with a comment"
        " ✓ sum_form_lr 2 of 2 solved, changed by your instructor, regraded"
        " same_update – does not count: Its text was &lt;unclear&gt;."
        " late −1.6 handed in 26 hours late: 1.6 of 8 points deducted together 5.4 of 8"
    )


def test_a_student_within_extra_time_is_not_late(pages):
    assert head(pages["bob"]).endswith(". together 8 of 8")


def test_comments_changes_and_answers_are_in_a_box_and_what_students_wrote_is_no_markup(pages):
    assert boxes(pages["ada"])[1:] == [
        "Points changed from 1 to 2 of 2. You asked for a regrade: Is &lt;b&gt;it&lt;/b&gt; not right?"
        " It is &amp; was Its points are now 2, in place of 1.",
        "This exercise does not count: Its text was &lt;unclear&gt;.",
    ]
    first = boxes(pages["ada"])[0]
    assert first.startswith("Points changed from 4 to 5 of 6. Well thought : x &lt; y")
    assert "<math" in pages["ada"].partition("Points changed from 4")[2].partition("</div>")[0]
    assert boxes(pages["bob"]) == [
        "Read the hint. Its points stay as they are: 2.",
        "This exercise does not count: Its text was &lt;unclear&gt;.",
    ]


def test_an_answer_that_nobody_asked_for_is_a_comment(pages):
    assert "sum_form_lr 2 of 2 solved, with a comment same_update" in head(pages["bob"])


def test_an_answer_without_a_full_stop_does_not_run_into_the_next_sentence(pages):
    assert "<p>It is &amp; was</p><p>Its points are now 2" in pages["ada"]


def test_a_box_stands_above_the_verdict_it_is_about(pages):
    page = pages["ada"]
    assert page.index('name="sum_form_lr"') < page.index("You asked for a regrade") < page.index(VERDICT)


def test_a_comment_stands_there_once(pages):
    assert pages["ada"].count("Well <em>thought</em>") == 1


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (PointsOfCell(2, 2, None, None), ""),
        (PointsOfCell(2, 2, 2, None), ""),
        (PointsOfCell(2, 2, None, 0), ""),
        (PointsOfCell(0, None, None, None), ""),
        (PointsOfCell(3, 2, 3, None), "Points changed from 2 to 3 of 6."),
        (PointsOfCell(0, 2, 0, None), "Points changed from 2 to 0 of 6."),
        (PointsOfCell(3, None, 3, None), "Points by hand: 3 of 6."),
        (None, ""),
    ],
)
def test_points_are_called_changed_only_if_a_person_changed_them(points, sentence):
    assert changed_points(points, 6) == sentence
