"""A roster is read completely, or every bad row of it is named."""

from __future__ import annotations

import pytest

from autograder.classroom.roster import RosterError, Student, read_roster


@pytest.fixture
def roster(tmp_path):
    def read(content: str | bytes):
        path = tmp_path / "roster.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_roster(path)

    return read


def test_students_come_in_the_order_of_the_file(roster):
    assert roster("id,first_name,last_name,email\nbob,Bob,B,b@x\nada,Ada,A,a@x\n") == (
        Student("bob", "Bob", "B", "b@x"),
        Student("ada", "Ada", "A", "a@x"),
    )


def test_only_the_id_is_needed_and_other_columns_are_ignored(roster):
    assert roster("section,id\nA,ada\nB,7\n") == (Student("ada"), Student("7"))


def test_what_spreadsheets_add_does_no_harm(roster):
    assert roster('\ufeffID,Last_Name\r\n ada ,"Lovelace, née Byron"\r\n,\r\n\r\n') == (
        Student("ada", last_name="Lovelace, née Byron"),
    )


def test_a_short_row_leaves_the_rest_empty(roster):
    assert roster("id,first_name,last_name\nada\n") == (Student("ada"),)


def test_all_bad_rows_are_named_with_line_and_reason(roster):
    with pytest.raises(RosterError) as error:
        roster("id,first_name\nada,Ada\n,Nobody\nada,Again\na/b,\n..,\n-x,\n")
    lines = str(error.value).splitlines()
    assert [line.split("line ")[1].split(":")[0] for line in lines] == ["3", "4", "5", "6", "7"]
    assert "no id" in lines[0]
    assert "second time" in lines[1]
    assert "'a/b'" in lines[2]


@pytest.mark.parametrize("content", ["", "name,mail\nAda,a@x\n", b"PK\x03\x04\xff\xfe", "\0\0\0"])
def test_a_file_that_is_no_roster_is_refused(roster, content):
    with pytest.raises(RosterError, match=r"roster\.csv: "):
        roster(content)
