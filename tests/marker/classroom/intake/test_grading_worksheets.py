"""Moodle's grading worksheet says when work was handed in, which its download of submissions does not."""

from __future__ import annotations

import pytest
from handed_in import ROSTER, UNIT, fill, work
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.csv_tables import TableError
from autograder.classroom.gradebook.enrolment import enrol
from autograder.classroom.intake.collect_submissions import collect
from autograder.classroom.intake.grading_worksheets import note_times, take_worksheet
from autograder.classroom.students import LATE_MARK
from autograder.publishing.nbgrader_course import course_directory, make_course

HEADER = "Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
ADA = 'Participant 11,Ada Lovelace,a.lovelace@example.org,Submitted,,"{}"\n'
BOB = 'Participant 12,Bob,bob@example.org,Submitted,,"Sunday, 22 November 2026, 6:30 PM"\n'
STRANGER = 'Participant 13,Jo Doe,jo@example.org,Submitted,,"Sunday, 22 November 2026, 6:30 PM"\n'
EARLY = ADA.format("Sunday, 22 November 2026, 6:30 PM")


@pytest.fixture
def school(tmp_path):
    """A class in which unit 04 is due, in Berlin, and Ada and Bob have handed it in."""
    directory = tmp_path / "class"
    make_course(directory, {})
    enrol(ROSTER, course_directory(directory).db_url)
    (directory / "deadlines.csv").write_text("unit,student,due,extra_days\n04,,2026-11-22 18:00 Europe/Berlin,\n")
    names = ("Ada Lovelace_11", "Bob O'Brien-Smith_12")
    files = {f"{name}_assignsubmission_file_/{UNIT}.ipynb": work(f"x = '{name}'") for name in names}
    collect(directory, fill(tmp_path / "download", files))
    return directory


def noted(school, rows: str, header: str = HEADER) -> tuple[int, int, str]:
    """How many times of a worksheet were noted, how many were there before, and all complaints."""
    worksheet, course = school.parent / "worksheet.csv", course_directory(school)
    worksheet.write_text(header + rows)
    sheet = take_worksheet(course, UNIT, worksheet)
    assert sheet.times is not None
    times = note_times(course, UNIT, sheet.times)
    return times.written, times.known, "\n".join([*sheet.strangers, *times.complaints])


def time_of(school, student: str = "ada") -> str:
    stamp = school / "submitted" / student / UNIT / "timestamp.txt"
    return stamp.read_text().strip() if stamp.exists() else ""


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("Sunday, 22 November 2026, 6:30 PM", "2026-11-22 17:30:00.000000 UTC"),
        ("Sunday, November 22, 2026, 6:30 PM", "2026-11-22 17:30:00.000000 UTC"),
        ("Sunday, 22 November 2026, 6:30\u202fPM", "2026-11-22 17:30:00.000000 UTC"),
        ("Wednesday, 1 July 2026, 12:05 AM", "2026-06-30 22:05:00.000000 UTC"),
    ],
)
def test_a_time_is_noted_in_utc_from_the_time_zone_of_the_due_date(school, written, utc):
    assert noted(school, ADA.format(written)) == (1, 0, "")
    assert time_of(school) == utc


def test_noting_the_same_times_again_changes_nothing(school):
    noted(school, EARLY)
    assert noted(school, EARLY) == (0, 1, "")


def test_a_time_that_is_there_stays_and_another_one_in_the_worksheet_is_named(school):
    stamp = school / "submitted" / "ada" / UNIT / "timestamp.txt"
    for written, says in (("2026-11-26 09:30 Europe/Berlin\n", "says 2026-11-26 08:30:00 UTC"), ("tomorrow", "holds no time")):
        stamp.write_text(written)
        complaints = noted(school, EARLY)[2]
        assert complaints == (
            f"ada, {UNIT}: {stamp} {says}, the worksheet 2026-11-22 17:30 UTC;"
            " it stays; delete that file if the worksheet is right, and give the worksheet again"
        )
        assert stamp.read_text() == written
    stamp.write_text("\n")
    assert noted(school, EARLY)[2] == ""
    assert time_of(school) == "2026-11-22 17:30:00.000000 UTC"


def test_seconds_that_a_worksheet_leaves_out_make_no_other_time(school):
    (school / "submitted" / "ada" / UNIT / "timestamp.txt").write_text("2026-11-22 17:30:59 UTC")
    assert noted(school, EARLY) == (0, 1, "")


def test_who_has_handed_in_nothing_is_passed_over(school):
    assert noted(school, ADA.format("-") + BOB)[0] == 1
    assert (time_of(school), time_of(school, "bob") != "") == ("", True)


def test_students_whose_notebook_is_not_in_the_class_and_strangers_are_named(school):
    chi = EARLY.replace("11,Ada Lovelace,a.lovelace", "14,Chi,chi.one")
    written, _, complaints = noted(school, STRANGER + chi + EARLY)
    assert written == 1
    assert "line 2: 'Participant 13' matches no single student of the class" in complaints
    assert (
        f"chi1, {UNIT}: Moodle was handed something, but the class has no notebook of this unit;"
        " see what is said of that file" in complaints
    )


def test_the_table_of_files_says_whose_a_row_is(school, tmp_path):
    (school / "file_owners.csv").write_text("file,student\n13,ada\n")
    collect(school, fill(tmp_path / "again", {f"Jo Doe_13_assignsubmission_file_/{UNIT}.ipynb": work("x = 'jo'")}))
    assert noted(school, STRANGER)[2] == ""
    assert time_of(school)


def test_a_notebook_that_came_by_mail_gets_no_time_of_moodles(school, tmp_path):
    collect(school, fill(tmp_path / "mail", {f"ada/{UNIT}/{UNIT}.ipynb": work("x = 'newer'")}))
    written, _, complaints = noted(school, EARLY + BOB)
    assert written == 1
    assert f"ada, {UNIT}: the notebook in the class did not come with Moodle's download" in complaints
    assert complaints.endswith(f"write when it came into {school}/submitted/ada/{UNIT}/timestamp.txt")
    assert (time_of(school), time_of(school, "bob") != "") == ("", True)

    (school / "submitted" / "ada" / UNIT / "timestamp.txt").write_text("2026-11-26 09:30 Europe/Berlin\n")
    assert noted(school, EARLY + BOB) == (0, 2, "")


def test_a_notebook_that_came_by_mail_and_then_from_moodle_has_moodles_time(school, tmp_path):
    mail = {f"chi1/{UNIT}/{UNIT}.ipynb": work("x = 'chi'")}
    collect(school, fill(tmp_path / "mail", mail))
    chi = EARLY.replace("11,Ada Lovelace,a.lovelace", "14,Chi,chi.one")
    assert "did not come with Moodle's download" in noted(school, chi)[2]
    collect(school, fill(tmp_path / "again", {f"Chi_14_assignsubmission_file_/{UNIT}.ipynb": work("x = 'chi'")}))
    assert noted(school, chi)[2] == ""
    assert time_of(school, "chi1") == "2026-11-22 17:30:00.000000 UTC"


def test_the_worksheet_of_another_assignment_is_not_believed(school):
    other = (EARLY + BOB).replace("Participant 1", "Participant 9")
    written, known, complaint = noted(school, other)
    assert (written, known) == (0, 0)
    assert complaint == (
        f"2 notebooks of {UNIT} came from Moodle under other numbers than those of this worksheet, so it seems to be another"
        " assignment's, and none of its times is noted; give that of the unit's own"
    )
    assert noted(school, EARLY + BOB) == (2, 0, "")
    _, _, complaint = noted(school, EARLY.replace("11", "91", 1) + BOB)
    assert f"ada, {UNIT}: the notebook came from Moodle as number 11, and the worksheet's number is 91" in complaint


def test_rows_with_times_of_one_wrong_form_are_counted_and_not_listed(school):
    german = ADA.format("Sonntag, 22. November 2026, 18:30")
    with pytest.raises(TableError) as refused:
        noted(school, german * 3)
    assert str(refused.value).count("is no time as Moodle writes it") == 1
    assert "(so has 2 other rows)" in str(refused.value)


@pytest.mark.parametrize("written", ["Sonntag, 22. November 2026, 18:30", "yesterday", "Sunday, 31 November 2026, 6:30 PM"])
def test_one_time_that_cannot_be_read_leaves_all_as_they_were(school, written):
    with pytest.raises(TableError) as refused:
        noted(school, BOB + ADA.format(written))
    assert "line 3, column last modified (submission): " in str(refused.value)
    assert f"{written!r} is no time as Moodle writes it in English" in str(refused.value)
    assert time_of(school, "bob") == ""
    assert not (school / "file_owners.csv").exists()


def test_a_unit_without_a_due_date_has_no_time_zone_and_no_times(school):
    (school / "deadlines.csv").unlink()
    (school.parent / "worksheet.csv").write_text(HEADER + EARLY)
    sheet = take_worksheet(course_directory(school), UNIT, school.parent / "worksheet.csv")
    assert (sheet.added, sheet.times) == (1, None)


def test_a_worksheet_without_times_is_refused(school):
    with pytest.raises(TableError, match="no column 'last modified") as refused:
        noted(school, "Participant 11,Ada Lovelace\n", header="Identifier,Full name\n")
    assert "give Moodle's grading worksheet, downloaded with Moodle in English" in str(refused.value)


def test_a_worksheet_is_given_with_one_unit(school):
    (school.parent / "worksheet.csv").write_text(HEADER + EARLY)
    result = CliRunner().invoke(app, ["grade", str(school), "--worksheet", str(school.parent / "worksheet.csv")])
    assert result.exit_code == 2
    assert "a worksheet is that of one unit; say of which, such as --units 03" in result.stderr


def test_a_time_takes_the_place_of_a_mark_of_being_late(school):
    mark = school / "submitted" / "ada" / UNIT / LATE_MARK
    mark.write_text("marked as late by Canvas\n")
    noted(school, EARLY)
    assert not mark.exists()


def test_a_time_is_never_written_through_a_link(school, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("kept")
    (school / "submitted" / "ada" / UNIT / "timestamp.txt").symlink_to(outside)
    assert "is a link" in noted(school, EARLY + BOB)[2]
    assert outside.read_text() == "kept"
    assert time_of(school, "bob")


def test_a_worksheet_of_another_unit_is_named_once(school, tmp_path):
    mailed = {f"{student}/{UNIT}/{UNIT}.ipynb": work(f"x = {student!r}") for student in ("ada", "bob")}
    collect(school, fill(tmp_path / "mail", mailed))
    rows = EARLY.replace("11,Ada Lovelace", "91,Ada Lovelace") + BOB.replace("Participant 12", "Participant 92")
    written, known, complaints = noted(school, rows)
    assert (written, known) == (0, 0)
    assert complaints.startswith(f"no notebook of {UNIT} came from Moodle under a number of this worksheet")
