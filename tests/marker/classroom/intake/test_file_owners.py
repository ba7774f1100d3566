"""A table of the class says whose files are that their names leave open, and complaints say which line would."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from handed_in import ROSTER, TIME, UNIT, BareClass, fill, work

from autograder.classroom.csv_tables import TableError
from autograder.classroom.file_owners import FILE_OWNERS, file_key, read_file_owners
from autograder.classroom.gradebook.enrolment import enrol
from autograder.classroom.intake.collect_submissions import collect, newest_attempts
from autograder.classroom.intake.grading_worksheets import Worksheet, take_worksheet
from autograder.classroom.intake.student_matching import FROM_WORKSHEET, Students
from autograder.classroom.students import IN_TIME_MARK, LATE_MARK
from autograder.publishing.nbgrader_course import course_directory, make_course

FIRST, SECOND = (f"Chi Minh_{number}_assignsubmission_file_/{UNIT}.ipynb" for number in (11, 12))


def with_owners(bare: BareClass, owners: dict[str, str], roster: bool = True) -> BareClass:
    bare.students = Students(
        ROSTER if roster else (), roster, {file_key(file): who for file, who in owners.items()}, "table.csv"
    )
    return bare


def test_two_students_of_one_name_on_moodle_are_told_apart_by_its_numbers(roster_class):
    with_owners(roster_class, {"11": "chi2", "Participant 12": "chi1"})
    assert roster_class.take({FIRST: work("x = 1"), SECOND: work("x = 2")}).unrecognised == ()
    assert roster_class.has("chi2") == work("x = 1")
    assert roster_class.has("chi1") == work("x = 2")


def test_a_name_of_two_students_is_named_with_the_lines_that_would_tell(roster_class):
    with_owners(roster_class, {})
    (found,) = roster_class.take({FIRST: work()}).unrecognised
    assert found.reason.endswith(f"; or add the line 11,chi1 or 11,chi2 to table.csv{FROM_WORKSHEET}")


def test_two_people_who_share_the_name_of_one_student_are_named_with_the_lines_to_add(roster_class):
    files = {f"Ada Lovelace_{number}_assignsubmission_file_/{UNIT}.ipynb": work(f"x = {number}") for number in (31, 32)}
    found = with_owners(roster_class, {}).take(files).unrecognised
    assert [one.reason.partition("or add ")[2] for one in found] == [
        f"the lines 31,ID and 32,ID to table.csv{FROM_WORKSHEET}"
    ] * 2
    assert with_owners(roster_class, {"31": "ada", "32": "s-1"}).take(files).unrecognised == ()
    assert roster_class.has("ada") == work("x = 31")
    assert roster_class.has("s-1") == work("x = 32")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (f"Participant_6_assignsubmission_file_/{UNIT}.ipynb", "6"),
        (f"Participant_6_assignsubmission_file_{UNIT}.ipynb", "Participant 6"),
        (f"anon_x7dF_6_{UNIT}.ipynb", "anon_x7dF"),
        (f"LATE_anon_x7dF_6_{UNIT}.ipynb", "anon_x7dF"),
        (f"minhchi_6_9_{UNIT}.ipynb", "6"),
        (f"homework of somebody/{UNIT}.ipynb", "homework_of somebody"),
        ("final_version.ipynb", "final_version"),
        ("final_version.ipynb", "final_version.ipynb"),
    ],
)
def test_files_without_a_name_are_given_to_the_student_in_the_table(roster_class, name, key):
    assert [one.reason for one in roster_class.take({name: work()}).unrecognised] != []
    assert with_owners(roster_class, {key: "bob"}).take({name: work()}).unrecognised == ()
    assert roster_class.has("bob") == work()


def test_an_anonymous_download_is_named_with_the_line_to_add(roster_class):
    (found,) = with_owners(roster_class, {}).take({f"Participant_6_assignsubmission_file_/{UNIT}.ipynb": work()}).unrecognised
    assert found.reason.endswith(f"download it again; or add the line 6,ID to table.csv{FROM_WORKSHEET}")


def test_anonymous_names_that_differ_by_capitals_are_two_students(roster_class):
    with_owners(roster_class, {"anon_x7dF": "ada", "anon_x7df": "bob"})
    roster_class.take({f"anon_x7dF_6_{UNIT}.ipynb": work("x = 1"), f"anon_x7df_7_{UNIT}.ipynb": work("x = 2")})
    assert roster_class.has("ada") == work("x = 1")
    assert roster_class.has("bob") == work("x = 2")


def test_the_table_does_not_override_a_name_further_out(roster_class):
    with_owners(roster_class, {"mine": "bob"})
    roster_class.take({f"Ada Lovelace_11_assignsubmission_file_/mine/{UNIT}.ipynb": work()})
    assert roster_class.has("ada") == work()
    assert roster_class.has("bob") is None


def test_a_student_in_the_table_who_is_not_in_the_class_gets_no_file(roster_class):
    (found,) = with_owners(roster_class, {"11": "ian"}).take({FIRST: work()}).unrecognised
    assert found.reason == "table.csv gives '11' to 'ian', who is not in the class; correct it there"


def test_a_class_without_a_roster_takes_ids_from_the_table(open_class):
    taken = with_owners(open_class, {"11": "chi-a", "12": "chi-b"}, roster=False).take({FIRST: work(), SECOND: work("x = 2")})
    assert taken.new_students == ("chi-a", "chi-b")


def test_the_table_of_a_class_is_read_and_rows_to_be_filled_in_are_left_out(tmp_path):
    (tmp_path / FILE_OWNERS.name).write_text("file,student\nParticipant 11,ada\n12,\nanon_x7dF,bob\n")
    assert read_file_owners(SimpleNamespace(root=str(tmp_path))) == {"11": "ada", "anon x7dF": "bob"}


def test_every_bad_row_of_the_table_is_named(tmp_path):
    (tmp_path / FILE_OWNERS.name).write_text("file,student\n11,ada\n11,bob\n,bob\n12,../bob\n")
    with pytest.raises(TableError) as error:
        read_file_owners(SimpleNamespace(root=str(tmp_path)))
    lines = [line.partition("file_owners.csv, ")[2] for line in str(error.value).splitlines()]
    assert lines[:2] == [
        "line 3, column student: '11' is here for the second time, with another student",
        "line 4, column file: is empty; write the LMS's number, or the name of a file",
    ]
    assert lines[2].startswith("line 5, column student: the id '../bob' cannot name a directory")


def marked_late(bare: BareClass) -> bool:
    return (bare.submitted / "ada" / UNIT / LATE_MARK).exists()


def test_what_canvas_calls_late_is_kept_until_a_newer_attempt_is_not(roster_class):
    late = {f"lovelaceada_LATE_12345_7_{UNIT}.ipynb": work()}
    roster_class.take(late)
    before = roster_class.everything()
    assert marked_late(roster_class)
    roster_class.take(late)
    assert roster_class.everything() == before
    roster_class.take({f"lovelaceada_12345_8_{UNIT}.ipynb": work("x = 2")})
    assert not marked_late(roster_class)


def test_canvas_can_take_back_that_an_attempt_was_late(roster_class):
    roster_class.take({f"lovelaceada_LATE_12345_7_{UNIT}.ipynb": work()})
    roster_class.take({f"ada/{UNIT}.ipynb": work()})
    assert marked_late(roster_class)
    roster_class.take({f"lovelaceada_12345_7_{UNIT}.ipynb": work()})
    assert not marked_late(roster_class)


def test_that_canvas_does_not_call_an_attempt_late_is_kept_as_well(roster_class):
    in_time = roster_class.submitted / "ada" / UNIT / IN_TIME_MARK
    roster_class.take({f"lovelaceada_12345_7_{UNIT}.ipynb": work()})
    assert in_time.exists()
    roster_class.take({f"lovelaceada_LATE_12345_7_{UNIT}.ipynb": work("x = 3")})
    assert (in_time.exists(), marked_late(roster_class)) == (False, True)
    roster_class.take({f"lovelaceada_12345_7_{UNIT}.ipynb": work("x = 3")})
    roster_class.take({f"ada/{UNIT}.ipynb": work("x = 2")})
    assert (in_time.exists(), marked_late(roster_class)) == (False, False)


def test_work_in_time_is_not_late_because_it_is_handed_in_again(roster_class):
    in_time, late = ({f"lovelaceada_{mark}12345_7_{UNIT}.ipynb": work()} for mark in ("", "LATE_"))
    roster_class.take(in_time)
    assert roster_class.take(late).summary.endswith("0 ignored")
    assert not marked_late(roster_class)


def test_in_whatever_order_it_is_given_work_in_time_is_in_time(roster_class):
    in_time, late = ({f"lovelaceada_{mark}12345_7_{UNIT}.ipynb": work()} for mark in ("", "LATE_"))
    roster_class.take(late)
    assert roster_class.take(in_time).summary.endswith("1 time noted")
    assert not marked_late(roster_class)


def test_a_time_says_more_than_that_an_attempt_was_late(roster_class):
    roster_class.take({f"lovelaceada_LATE_12345_7_{UNIT}.ipynb": work()})
    roster_class.take({f"ada+{UNIT}+{TIME}/{UNIT}.ipynb": work()})
    assert roster_class.time("ada") == TIME
    assert not marked_late(roster_class)


WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade\n"
    "Participant 11,Chi Minh,chi.two@example.org,Submitted,\n"
    "Participant 12,Chi Minh,Chi.One@example.org,Submitted,\n"
    "Participant 13,Jo Doe,jo@example.org,No submission,\n"
)


@pytest.fixture
def class_of_two(tmp_path):
    """A class with two students of one name, and a function that takes a worksheet into it."""
    directory, path = tmp_path / "class", tmp_path / "worksheet.csv"
    make_course(directory, {})
    enrol(ROSTER, course_directory(directory).db_url)

    def owners(text: str) -> Worksheet:
        path.write_text(text)
        return take_worksheet(course_directory(directory), UNIT, path)

    return directory, owners


@pytest.mark.slow
def test_moodles_worksheet_says_whose_numbers_are_whose_and_the_download_is_then_taken(class_of_two, tmp_path):
    directory, owners = class_of_two
    sheet = owners(WORKSHEET)
    assert (sheet.added, sheet.known) == (2, 0)
    (stranger,) = sheet.strangers
    assert "line 4: 'Participant 13' matches no single student of the class; unless they have left it, add it" in stranger
    assert (owners(WORKSHEET).added, owners(WORKSHEET).known) == (0, 2)
    taken = collect(directory, fill(tmp_path / "download", {FIRST: work("x = 1"), SECOND: work("x = 2")}))
    assert [(one.file, one.students) for one in taken.taken] == [(FIRST, ("chi2",)), (SECOND, ("chi1",))]


@pytest.mark.parametrize("prefix", ["Participant_11_assignsubmission_file_", "anon_x7dF_6_", "LATE_anon_x7dF_6_"])
def test_feedback_goes_back_under_the_name_of_the_anonymous_download(class_of_two, tmp_path, prefix):
    (class_of_two[0] / "file_owners.csv").write_text("file,student\n11,ada\nanon_x7dF,ada\n")
    attempts, _ = newest_attempts(class_of_two[0], fill(tmp_path / "download", {f"{prefix}{UNIT}.ipynb": work()}))
    assert attempts["ada", UNIT].owner.claim.reply_prefix == prefix


def test_a_worksheet_that_contradicts_the_table_changes_nothing(class_of_two):
    directory, owners = class_of_two
    (directory / "file_owners.csv").write_text("file,student\n12,chi2\n")
    with pytest.raises(TableError) as refused:
        owners(WORKSHEET)
    assert "line 3, column identifier: " in str(refused.value)
    assert "says that 'Participant 12' is 'chi2', not 'chi1'; correct one of the two" in str(refused.value)
    assert (directory / "file_owners.csv").read_text() == "file,student\n12,chi2\n"


def test_a_worksheet_in_another_language_is_refused(class_of_two):
    with pytest.raises(TableError, match="no column 'identifier'"):
        class_of_two[1]("Kennung,Name\n")
