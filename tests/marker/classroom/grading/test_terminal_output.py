"""The table that ``grade`` prints has the points that students get, not those that marking alone would give."""

from __future__ import annotations

from dataclasses import replace

from sample_class import UNIT, exercise, marks, nothing

from autograder.classroom.gradebook.class_marks import ClassMarks, SubmissionPoints
from autograder.classroom.grading.grading_run import Outcome
from autograder.classroom.grading.terminal_output import print_summary

MARKED = [marks("a"), marks("b", exercise("train_epoch", 2, "no-scale")), nothing("c", "raised")]
"""Marks of 10, 6 and 0 points."""


def table(capsys, points: ClassMarks | None, **facts) -> dict[str, str]:
    """The cells of the unit's line, by column."""
    print_summary(Outcome(marked=MARKED, **facts), points)
    header, line, *_ = capsys.readouterr().out.splitlines()
    starts = [header.index(name) + len(name) for name in COLUMNS if name in header]
    cells = (line[begin:end].strip() for begin, end in zip([len(UNIT), *starts], starts, strict=False))
    return dict(zip([name for name in COLUMNS if name in header], cells, strict=True))


COLUMNS = (
    *("handed in", "marked now", "unchanged", "unmarked", "mean", "of", "full marks", "no points", "unreadable"),
    *("damaged", "late", "by hand"),
)


def test_without_decisions_the_table_shows_marks(capsys):
    assert table(capsys, None) == {
        "handed in": "3",
        "marked now": "3",
        "unchanged": "0",
        "mean": "5.3",
        "of": "10",
        "full marks": "1",
        "no points": "1",
        "unreadable": "0",
    }


def test_penalties_changed_points_and_dropped_exercises_are_in_the_table(capsys):
    entries = {
        ("a", UNIT): SubmissionPoints(9.0, 1.0, None, False),
        ("b", UNIT): SubmissionPoints(9.0, 0.0, None, False, by_hand=True),
        ("c", UNIT): SubmissionPoints(3.0, 0.0, None, False, by_hand=True),
    }
    cells = table(capsys, ClassMarks((), {UNIT: 9.0}, {UNIT: None}, entries))
    assert [cells[name] for name in ("mean", "of", "full marks", "no points", "late", "by hand")] == [
        *("6.7", "9", "1", "0", "1", "2")
    ]


def test_what_is_not_in_the_gradebook_counts_as_it_was_marked(capsys):
    entries = {("c", UNIT): SubmissionPoints(2.0, 0.0, None, False)}
    assert table(capsys, ClassMarks((), {UNIT: 10.0}, {UNIT: None}, entries))["mean"] == "6.0"


def test_unmarked_submissions_have_a_column_only_if_there_are_any(capsys):
    entries = {("a", UNIT): SubmissionPoints(9.0, 1.0, None, False, by_hand=True)}
    every = ClassMarks((), {UNIT: 10.0}, {UNIT: None}, entries)
    assert "unmarked" not in table(capsys, every)
    cells = table(capsys, every, unmarked={("d", UNIT): "the marker failed"})
    assert (cells["handed in"], cells["unmarked"], cells["late"], cells["by hand"]) == ("4", "1", "1", "1")


def test_damaged_files_are_counted_and_named_with_what_could_be_read_of_them(capsys):
    damaged = replace(marks("d"), damage="is damaged (see line 7); 12 cells of it could be read")
    assert "damaged" not in table(capsys, None)
    assert table(capsys, None, unchanged=[damaged])["damaged"] == "1"
    print_summary(Outcome(marked=[damaged]), None)
    told = "d, 04_training_loop: the file is damaged (see line 7); 12 cells of it could be read; these were marked"
    assert told in capsys.readouterr().out.splitlines()


def test_damaged_files_are_named_by_unit_and_student_whenever_they_were_marked(capsys):
    damaged = {name: replace(marks(name), damage="is damaged") for name in "bcd"}
    earlier = replace(damaged["d"], unit="03_accumulate")
    print_summary(Outcome(marked=[damaged["c"]], unchanged=[damaged["b"], earlier]), None)
    lines = [line for line in capsys.readouterr().out.splitlines() if "the file is damaged" in line]
    assert [line.partition(":")[0] for line in lines] == ["d, 03_accumulate", f"b, {UNIT}", f"c, {UNIT}"]


def test_files_that_cannot_be_read_are_named_with_the_reason(capsys):
    unreadable = replace(nothing("d", "unreadable"), problem="d.ipynb: is a PDF; hand in the .ipynb file you worked in")
    print_summary(Outcome(unchanged=[marks("a"), unreadable]), None)
    lines = capsys.readouterr().out.splitlines()
    assert f"d, {UNIT}: nothing could be read: d.ipynb: is a PDF; ask for another copy" in lines
    assert not any(line.startswith("a,") for line in lines)
