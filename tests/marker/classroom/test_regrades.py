"""Requests for a regrade are answered from a CSV file: all of them, or on a bad row none."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from exported_class import ACCUMULATE, LOOP
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.csv_tables import TableError
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.regrades import Regrade, read_regrades, regrade

HEADER = "student,unit,exercise,reason,answer,points\n"


@pytest.fixture
def copy(school, tmp_path) -> ClassToMark:
    """A copy of the class whose submissions have 8, 1 and 0 points for ``code`` of unit 03."""
    return ClassToMark(shutil.copytree(school, tmp_path / "class"))


@pytest.fixture
def ask(copy, tmp_path):
    """Runs the command on requests; returns its output and complaints."""

    def ask(*rows: str, status: int = 0) -> tuple[list[str], list[str]]:
        (tmp_path / "requests.csv").write_text(HEADER + "".join(f"{row}\n" for row in rows))
        result = CliRunner().invoke(app, ["regrade", str(copy.directory), str(tmp_path / "requests.csv")])
        assert result.exit_code == status, (result.output, result.exc_info)
        return result.stdout.splitlines(), result.stderr.replace("gradaccum classroom regrade: ", "").splitlines()

    return ask


def points(directory: Path, student: str, unit: str = ACCUMULATE) -> tuple[float | None, float | None, float]:
    """Points of an exercise: given by marking, by a person, and what counts."""
    with Gradebook(f"sqlite:///{directory}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("code", unit, unit, student)
        return grade.auto_score, grade.manual_score, grade.score


def log(directory: Path) -> list[dict[str, str]]:
    with (directory / "regrades.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_points_are_changed_and_what_changed_is_kept(ask, copy):
    said, complaints = ask("bob,03,code,The second trial is unclear.,You are right.,4", "eve,03,code,Please.,It is wrong.,")
    assert said == [
        f"bob, {ACCUMULATE}, code: 1 point before the request, 4 now",
        f"eve, {ACCUMULATE}, code: 0 points before the request and now",
        "2 answered, 0 answered before, 0 open; make feedback and exports again",
    ]
    assert complaints == []
    assert points(copy.directory, "bob") == (1, 4, 4)
    assert points(copy.directory, "eve") == (0, None, 0)
    assert [(row["student"], row["reason"], row["before"], row["after"]) for row in log(copy.directory)] == [
        ("bob", "The second trial is unclear.", "1", "4"),
        ("eve", "Please.", "0", "0"),
    ]


def test_points_may_have_a_decimal_comma(ask, copy):
    assert ask('bob,03,code,Why?,Half of it.,"0,5"')[0][0] == f"bob, {ACCUMULATE}, code: 1 point before the request, 0.5 now"
    assert points(copy.directory, "bob") == (1, 0.5, 0.5)
    assert ask("bob,03,code,Why?,Half of it.,0.5")[0] == ["0 answered, 1 answered before, 0 open"]


def test_the_same_file_again_changes_nothing(ask, copy):
    row = "bob,03,code,Why?,Right.,4"
    ask(row)
    before = log(copy.directory)
    assert ask(row)[0] == ["0 answered, 1 answered before, 0 open"]
    assert log(copy.directory) == before


def test_a_corrected_answer_replaces_the_first_and_keeps_the_points_before_it(ask, copy):
    ask("bob,03,code,Why?,Right.,4")
    ask("bob,03,code,Why?,Sorry: only in part.,2")
    assert points(copy.directory, "bob") == (1, 2, 2)
    assert [(row["answer"], row["before"], row["after"]) for row in log(copy.directory)] == [("Sorry: only in part.", "1", "2")]


def test_points_as_marking_gave_them_are_no_longer_points_by_hand(ask, copy):
    ask("bob,03,code,Why?,Right.,4")
    ask("bob,03,code,Why?,No.,1")
    assert points(copy.directory, "bob") == (1, None, 1)


def test_a_request_without_answer_and_points_stays_open_and_is_named(ask, copy):
    said, complaints = ask("bob,03,code,Why?,,")
    assert said == ["0 answered, 0 answered before, 1 open"]
    assert complaints == [f"bob, {ACCUMULATE}, code: has neither answer nor points, so it stays open"]
    assert not (copy.directory / "regrades.csv").exists()


def test_a_request_of_somebody_of_whom_nothing_is_marked_stays_open_and_holds_up_no_other(ask, copy):
    said, complaints = ask("kim,03,code,Please look,,", "bob,03,code,,It is 1.,")
    assert said[-1] == "1 answered, 0 answered before, 1 open; make feedback and exports again"
    assert complaints == [f"kim, {ACCUMULATE}, code: has neither answer nor points, so it stays open"]
    assert [one["student"] for one in log(copy.directory)] == ["bob"]


def test_every_bad_row_is_named_with_line_and_column_and_no_request_is_answered(ask, copy):
    no_points = "is no number of points from 0 to 8; write such a number, 'again' to mark again, or nothing"
    _, complaints = ask(
        "bob,03,code,good,Right.,4",
        "ian,03,code,,,1",
        "bob,99,code,,,1",
        "bob,03,cod,,,1",
        "kim,03,code,,,1",
        "ada,03,code,,,9",
        "ada,04,code,,,many",
        "eve,03,code,,,1",
        "eve,03,code,,,2",
        status=2,
    )
    assert [line.partition("requests.csv, ")[2] for line in complaints] == [
        "line 3, column student: no student 'ian' is in the class; give ids as in the roster",
        "line 4, column unit: no unit of the course in the gradebook is called '99'",
        f"line 5, column exercise: {ACCUMULATE} has no exercise 'cod'; there are code",
        f"line 6, column unit: nothing of 'kim' is in the gradebook for {ACCUMULATE}; put what they handed in, or else the"
        " released notebook, into a folder as kim.ipynb, and give grade --units 03 --from that folder",
        f"line 7, column points: '9' {no_points}",
        f"line 8, column points: 'many' {no_points}",
        "line 9, column points: code of 'eve' is given points in several lines; leave them in one",
        "line 10, column points: code of 'eve' is given points in several lines; leave them in one",
    ]
    assert points(copy.directory, "bob") == (1, None, 1)
    assert not (copy.directory / "regrades.csv").exists()


def test_marking_again_counts_in_place_of_points_by_hand(copy, tmp_path):
    def mark(wanted):
        assert wanted == {("bob", ACCUMULATE)}
        with Gradebook(copy.coursedir.db_url) as gradebook:
            gradebook.find_grade("code", ACCUMULATE, ACCUMULATE, "bob").auto_score = 6
            gradebook.db.commit()
        return []

    file = tmp_path / "requests.csv"
    file.write_text(HEADER + "bob,03,code,Why?,Right.,4\n")
    regrade(copy, file, mark)
    file.write_text(HEADER + "bob,03,code,Once more?,,again\n")
    outcome = regrade(copy, file, mark)
    assert [(one.before, one.after) for one in outcome.answered] == [("4", "6")]
    assert points(copy.directory, "bob") == (6, None, 6)


def test_no_request_is_answered_if_a_submission_cannot_be_marked_again(copy, tmp_path):
    file = tmp_path / "requests.csv"
    file.write_text(HEADER + "ada,03,code,Why?,Right.,4\nbob,03,code,,,again\n")
    with pytest.raises(ValueError, match=r"(?s)the marker failed.*nothing of .*requests\.csv has been changed"):
        regrade(copy, file, lambda _: ["the marker failed"])
    assert points(copy.directory, "ada") == (8, None, 8)
    assert read_regrades(copy.coursedir) == []


def test_a_submission_that_is_gone_cannot_be_marked_again(ask, copy):
    _, complaints = ask("bob,03,code,,,again", status=2)
    assert complaints[0] == f"bob, {ACCUMULATE}: is not in {copy.submitted}"


def test_what_was_answered_before_is_not_lost_if_the_gradebook_cannot_be_written(ask, copy, monkeypatch):
    from sqlalchemy.exc import OperationalError
    from sqlalchemy.orm import Session

    def fail(self):
        raise OperationalError("", {}, Exception("disk I/O error"))

    ask("bob,03,code,Why?,Right.,4")
    before = log(copy.directory)
    monkeypatch.setattr(Session, "commit", fail)
    assert "disk I/O error" in ask("ada,03,code,Why?,Right.,4", status=2)[1][0]
    monkeypatch.undo()
    assert log(copy.directory) == before
    assert points(copy.directory, "ada") == (8, None, 8)


def test_no_request_is_answered_while_a_table_of_the_class_cannot_be_used(ask, copy):
    (copy.directory / "deadlines.csv").write_text("unit,student,due,extra_days\n03,,tomorrow,\n")
    before = points(copy.directory, "bob")
    _, complaints = ask("bob,03,code,Please.,Yes.,4", status=2)
    assert "deadlines.csv, line 2, column due: 'tomorrow' is no date" in complaints[0]
    assert points(copy.directory, "bob") == before
    assert not (copy.directory / "regrades.csv").exists()


def test_a_formula_in_a_request_is_kept_as_text(ask, copy):
    ask('bob,04,code,"=HYPERLINK(""http://x"")",No.,')
    assert log(copy.directory)[0]["reason"] == '\'=HYPERLINK("http://x")'
    assert ask('bob,04,code,"=HYPERLINK(""http://x"")",No.,')[0] == ["0 answered, 1 answered before, 0 open"]


def test_a_table_of_regrades_of_another_form_is_refused(copy):
    (copy.directory / "regrades.csv").write_text("student\nbob\n")
    with pytest.raises(TableError, match="no column 'unit'"):
        read_regrades(copy.coursedir)


def test_a_request_is_open_until_it_has_an_answer_or_points():
    assert Regrade("bob", LOOP, "code", "Why?", "", "").is_open
    assert not Regrade("bob", LOOP, "code", "Why?", "", "again").is_open
    assert not Regrade("bob", LOOP, "code", "Why?", "No.", "").is_open
