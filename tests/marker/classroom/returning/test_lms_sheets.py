"""Gradebooks exported by Canvas, Moodle and Blackboard are filled in, and everything else in them is unchanged."""

from __future__ import annotations

import pytest
from exported_class import ACCUMULATE, CANVAS, LOOP, WORKSHEET, by, rows_of

from autograder.classroom.csv_cells import formula_safe
from autograder.classroom.returning.lms_sheets import Sheet, match_rows, points_text
from autograder.classroom.students import Student


def test_an_exported_canvas_gradebook_is_filled_in_and_everything_else_kept(export, tmp_path):
    (tmp_path / "exported.csv").write_text(CANVAS, encoding="utf-8")
    code, rows, notes = export("--format", "canvas", "--into", "exported.csv")
    assert code == 0
    loop, accumulate = "Unit 04: Training loop (4711)", "03_accumulate (4712)"
    expected = rows_of(tmp_path / "exported.csv")
    expected[2] |= {accumulate: "0"}
    expected[4] |= {loop: "8.33333", accumulate: "8"}
    expected[5] |= {"Student": "'=Eve", accumulate: "0"}
    assert rows == expected
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbfStudent,ID,")
    assert notes[1:] == [
        f"{ACCUMULATE} has 20 points there and 8 here; set it to 8 there, or marks look better or worse than they are",
        f"excused or not assigned there, so left as it was: {LOOP} of bob (N/A), {ACCUMULATE} of kim (EX)",
        "in exported.csv, but not in the class: Doe, Jo jo S80 80",
    ]


def test_semicolons_are_kept_and_points_are_written_with_a_decimal_point(export, tmp_path):
    exported = "Student;ID;SIS Login ID;Section;03_accumulate (1);04_training_loop (2)\n    Points Possible;;;;8,00;10,00\n"
    (tmp_path / "exported.csv").write_text(f"{exported}Ada;9001;ada;A;;8,2\n")
    assert export("--format", "canvas", "--into", "exported.csv")[0] == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[1:] == ["    Points Possible;;;;8,00;10,00", "Ada;9001;ada;A;8;8.33333"]


def test_students_without_a_row_are_named(export, tmp_path):
    (tmp_path / "exported.csv").write_text(f"Student,ID,SIS Login ID,Section,{ACCUMULATE} (1)\nAda,1,ada,A,\n")
    _, rows, notes = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert by(rows, "SIS Login ID", f"{ACCUMULATE} (1)") == {"ada": ("8",)}
    assert notes == ["not in exported.csv, so their marks are not in it: bob, eve, kim"]


def test_a_unit_that_canvas_does_not_know_gets_a_column_and_a_note(export, tmp_path):
    (tmp_path / "exported.csv").write_text("Student,ID,SIS Login ID,Section\n    Points Possible,,,\nAda,1,ada,A\n")
    _, rows, notes = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert [row[ACCUMULATE] for row in rows] == ["8", "8"]
    assert notes[0] == f"no assignment there is called {ACCUMULATE}; Canvas will ask what to do with the new column"


@pytest.mark.parametrize("title", ["Unit 03 (9001)", "unit 3", "03 accumulate", "UNIT_03_Accumulate (1)"])
def test_a_column_may_be_called_by_the_number_of_its_unit(export, tmp_path, title):
    (tmp_path / "exported.csv").write_text(f"Student,ID,SIS Login ID,Section,{title},Week 3,3\nAda,1,ada,A,,,\n")
    _, rows, _ = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert rows == [
        dict.fromkeys(("Week 3", "3"), "") | {"Student": "Ada", "ID": "1", "SIS Login ID": "ada", "Section": "A", title: "8"}
    ]


def test_a_grade_center_of_blackboard_is_filled_in_and_everything_else_kept(export, tmp_path):
    loop, accumulate = "Unit 04: Training loop [Total Pts: 10 Score] |2114", "Unit 3 [Total Pts: up to 20 Score] |2115"
    header = ("Last Name", "First Name", "Username", "Student ID", "Availability", "Total [Total Pts: 30 Score] |2113", loop)
    lines = ["\t".join((*header, accumulate)), "Lovelace\tAda\tada\t7\tYes\t8\t\t", "Ng\tŽoë\tsomebody\t8\tYes\t5\t4\t"]
    (tmp_path / "gc.xls").write_text("\n".join(lines) + "\n", encoding="utf-16")
    code, _, notes = export("--format", "blackboard", "--into", "gc.xls")
    assert code == 0
    filled = (tmp_path / "out.csv").read_bytes().decode("utf-16").splitlines()
    assert filled == [lines[0], "Lovelace\tAda\tada\t7\tYes\t8\t8.33333\t8", lines[2]]
    assert notes[1:3] == [
        f"{ACCUMULATE} has 20 points there and 8 here; set it to 8 there, or marks look better or worse than they are",
        "not in gc.xls, so their marks are not in it: bob, eve, kim",
    ]


def test_blackboard_takes_no_file_that_it_has_not_made(export):
    code, _, (problem,) = export("--format", "blackboard")
    assert code == 2
    assert "Blackboard takes only marks in a file that it has made; in Blackboard, choose Grade Center" in problem


def test_a_grading_worksheet_of_moodle_is_filled_in_and_everything_else_kept(export, tmp_path):
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    _, rows, notes = export("--format", "moodle", "--into", "worksheet.csv", "--units", "04")
    expected = rows_of(tmp_path / "worksheet.csv")
    for row, (name, grade) in zip(expected, [("Ada Lovelace", "8.33333"), ("'+Zoë", "5"), ("Kim", "3.00")], strict=True):
        row |= {"Full name": name, "Grade": grade}
    assert rows == expected
    assert notes[1:] == [
        f"{LOOP} has 100 points there and 10 here; set it to 10 there, or marks look better or worse than they are",
        "not in worksheet.csv, so their marks are not in it: eve",
    ]


def test_a_worksheet_needs_one_unit(export, tmp_path):
    (tmp_path / "worksheet.csv").write_text(WORKSHEET)
    code, _, (line,) = export("--format", "moodle", "--into", "worksheet.csv")
    assert code == 2
    assert line == f"worksheet.csv: is the worksheet of one assignment; name its unit, one of {ACCUMULATE}, {LOOP}"


def test_a_grade_export_of_moodle_is_filled_in(export, tmp_path):
    exported = (
        "First name,ID number,Email address,Assignment: Unit 03 - accumulate (Real),Course total (Real)\nAda,ada,a@x,-,-\n"
    )
    (tmp_path / "exported.csv").write_text(exported)
    _, rows, notes = export("--format", "moodle", "--into", "exported.csv")
    assert list(rows[0].values()) == ["Ada", "ada", "a@x", "8", "-"]
    assert f"no column there for {LOOP}, left out" in notes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "is not a CSV file"),
        (b"Student,ID\n\xff\xfe\n", "is not in UTF-8"),
        (b"PK\x03\x04\0\0", "exported.csv: "),
        (b"Name,Grade\nAda,1\n", "none of the columns SIS Login ID, SIS User ID, ID is there"),
        (b"ID,Student\n1,Ada\n", "does not begin with the columns Student and ID"),
        (b"Student,ID\nAda,1,2\n", "the line of 'Ada' has more cells than the header"),
        (b"Student,ID,SIS Login ID\nA,1,ada\nB,2,ada@x.edu\n", "'A' and 'B' would both be ada"),
        (b"Student,ID,SIS Login ID,03_accumulate (1),Unit 03 Accumulate (2)\n", "are both called like the unit 03_accumulate"),
    ],
)
def test_a_file_that_cannot_be_filled_in_gets_one_line_and_nothing_is_written(export, tmp_path, content, words):
    if content is not None:
        (tmp_path / "exported.csv").write_bytes(content)
    code, _, (line,) = export("--format", "canvas", "--into", "exported.csv", "--units", "03")
    assert (code, (tmp_path / "out.csv").exists()) == (2, False)
    assert line.startswith("exported.csv: ")
    assert words in line


@pytest.mark.parametrize("text", ["=1+1", "+49", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1"])
def test_a_text_that_spreadsheets_read_as_a_formula_gets_an_apostrophe(text):
    assert formula_safe(text) == f"'{text}"


@pytest.mark.parametrize("text", ["O'Brien, Zoë", "", "ada@x.edu", "2+2", "李雷"])
def test_texts_that_are_not_formulas_are_unchanged(text):
    assert formula_safe(text) == text


@pytest.mark.parametrize(("points", "text"), [(0.0, "0"), (100.0, "100"), (7.5, "7.5"), (1 / 3, "0.33333"), (1e-9, "0")])
def test_points_are_written_with_a_decimal_point_and_five_digits_at_most(points, text):
    assert points_text(points) == text


def test_an_address_that_two_students_share_identifies_neither():
    twins = [Student("a", email="x@y"), Student("b", email="X@y")]
    sheet = Sheet(("Email address",), (("x@y",), ("b",)))
    assert match_rows(sheet, {"Email address": ("email", "id")}, twins) == {1: twins[1]}
