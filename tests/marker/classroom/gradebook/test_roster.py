"""A roster is read completely, or every bad row in it is named."""

from __future__ import annotations

import pytest

from autograder.classroom.csv_tables import TableError
from autograder.classroom.gradebook.enrolment import enrol, enrolled
from autograder.classroom.gradebook.roster import read_roster
from autograder.classroom.students import Student


@pytest.fixture
def roster(tmp_path):
    def read(content: str | bytes):
        path = tmp_path / "roster.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_roster(path).students

    return read


def test_students_come_in_the_order_of_the_file(roster):
    assert roster("id,first_name,last_name,email\nbob,Bob,B,b@x\nada,Ada,A,a@x\n") == (
        Student("bob", "Bob", "B", "b@x"),
        Student("ada", "Ada", "A", "a@x"),
    )


def test_only_the_id_is_needed_and_other_columns_are_ignored(roster):
    assert roster("section,id\nA,ada\nB,7\n") == (Student("ada"), Student("7"))


def test_byte_order_mark_spaces_and_empty_rows_of_spreadsheets_are_ignored(roster):
    assert roster('\ufeffID,Last_Name\r\n ada ,"Lovelace, née Byron"\r\n,\r\n\r\n') == (
        Student("ada", last_name="Lovelace, née Byron"),
    )


def test_cells_missing_at_the_end_of_a_row_are_empty(roster):
    assert roster("id,first_name,last_name\nada\n") == (Student("ada"),)


def test_all_bad_rows_are_named_with_line_and_reason(roster):
    with pytest.raises(TableError) as error:
        roster("id,first_name\nada,Ada\n,Nobody\nada,Again\na/b,\n..,\n-x,\n")
    lines = str(error.value).splitlines()
    assert [line.split("line ")[1].split(":")[0] for line in lines] == ["3", "4", "5", "6", "7"]
    assert "no id" in lines[0]
    assert "second time, with other values" in lines[1]
    assert "'a/b'" in lines[2]


@pytest.mark.parametrize("content", ["", "name,phone\nAda,7\n", b"PK\x03\x04\xff\xfe", "\0\0\0"])
def test_a_file_that_is_not_a_roster_is_refused(roster, content):
    with pytest.raises(TableError, match=r"roster\.csv: "):
        roster(content)


LMS_FILES = {
    "Canvas's gradebook": (
        "Student,ID,SIS User ID,SIS Login ID,Section,Unit 4 (99)\n    Points Possible,,,,,10\n"
        '"Lovelace, Ada",12345,U1,ada,S1,\n',
        Student("ada", "Ada", "Lovelace", "", "12345"),
    ),
    "Moodle's participants": (
        "First name,Surname,Username,ID number,Email address\nAda,Lovelace,ada,77,ada@x.org\n",
        Student("ada", "Ada", "Lovelace", "ada@x.org"),
    ),
    "Moodle's participants, without a user name": (
        "First name,Last name,Email address,Groups\nAda,Lovelace,ada@x.org,\n",
        Student("ada@x.org", "Ada", "Lovelace", "ada@x.org"),
    ),
    "Gradescope": ("First Name,Last Name,SID,Email\nAda,Lovelace,7,ada@x.org\n", Student("7", "Ada", "Lovelace", "ada@x.org")),
    "Blackboard": (
        "Last Name\tFirst Name\tUsername\tStudent ID\nLovelace\tAda\tada\t99\n",
        Student("ada", "Ada", "Lovelace"),
    ),
    "GitHub Classroom": (
        '"identifier","github_username","github_id","name"\n"ada","octoada","1","Ada Lovelace"\n',
        Student("ada", "Ada", "Lovelace", "", "octoada"),
    ),
    "German Excel": ("sep=;\r\nID;Surname;First name\r\nada;Lovelace;Ada\r\n", Student("ada", "Ada", "Lovelace")),
    "a value over two lines": ('id,section,first_name\nada,"A\nB",Ada\n', Student("ada", "Ada")),
}


@pytest.mark.parametrize(("content", "student"), LMS_FILES.values(), ids=LMS_FILES)
def test_rosters_exported_by_an_lms_are_read(roster, content, student):
    assert roster(content) == (student,)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_spreadsheets_are_read(roster, encoding):
    assert roster("id,last_name\nada,Gödel\n".encode(encoding)) == (Student("ada", last_name="Gödel"),)


@pytest.mark.parametrize("name", ["Student, Test", "Test Student", "student,test"])
def test_canvas_test_student_is_left_out_and_named(tmp_path, name):
    path = tmp_path / "canvas.csv"
    path.write_text(f'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",1,ada,A\n"{name}",79999,xyz,A\n')
    read = read_roster(path)
    assert read.students == (Student("ada", "Ada", "Lovelace", "", "1"),)
    assert read.left_out == (f"{path}, line 3: {name!r} is Canvas's test student, and is left out",)


def test_a_student_in_two_sections_is_one_student(roster):
    assert roster("id,section\nada,A\nada,B\n") == (Student("ada"),)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("ADA,Ada,", "differs from 'ada' by capitals only"),
        ("eve,Eve,Mallory,x", "4 values where the first line names 3"),
        ('eve,"Eve,Mallory', "a quotation mark too many or too few"),
        ("x" * 129 + ",,", "longer than 128 characters"),
    ],
)
def test_an_ambiguous_row_is_named(roster, row, words):
    with pytest.raises(TableError, match=words) as error:
        roster(f"id,first_name,last_name\nada,Ada,Lovelace\n{row}\n")
    assert "line 3" in str(error.value)


def test_for_a_workbook_the_message_says_to_save_it_as_csv(roster):
    with pytest.raises(TableError, match="save the sheet as CSV"):
        roster(b"PK\x03\x04 and so on")


@pytest.mark.slow
def test_enrolling_again_updates_students_and_deletes_nothing(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    assert enrolled(url) == ((), False)
    enrol([Student("ada", "Ada", "Byron", "ada@x.org"), Student("bob"), Student("kim", email="k@x.org")], url)
    done = enrol([Student("ada", "Ada", "Lovelace", lms_user_id="7"), Student("eve"), Student("kim")], url)
    assert (done.before, str(done)) == (3, "1 new (eve), 1 updated, 1 unchanged")
    assert enrolled(url) == (
        (Student("ada", "Ada", "Lovelace", "ada@x.org", "7"), Student("bob"), Student("eve"), Student("kim", email="k@x.org")),
        True,
    )


@pytest.mark.slow
def test_students_whom_nbgrader_added_while_marking_are_not_a_roster(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    enrol([], url)  # makes the database
    from nbgrader.api import Gradebook

    with Gradebook(url) as gradebook:
        gradebook.add_student("ada")
    assert enrolled(url) == ((Student("ada"),), False)
