"""The student of a file is told by the names on its path, in the forms of all LMSs; no student can pose as another one."""

from __future__ import annotations

import pytest
from handed_in import GRADESCOPE, ROSTER, TIME, UNIT, BareClass, packed, work

from autograder.classroom.intake.submission_filenames import claims, strip_lms_decoration
from autograder.classroom.students import Student

ADA = {
    "an inbound folder": f"inbound/ada+{UNIT}+{TIME}+aBc/{UNIT}.ipynb",
    "an inbound folder without a random part": f"inbound/ada+{UNIT}+{TIME}/{UNIT}.ipynb",
    "collected": f"ada/{UNIT}/{UNIT}.ipynb",
    "Canvas": f"lovelaceada_12345_67890_{UNIT}-1.ipynb",
    "Canvas, late": f"lovelaceada_LATE_12345_67890_{UNIT}.ipynb",
    "Canvas, a name that is not in the roster": f"byronaugusta_12345_67890_{UNIT}.ipynb",
    "Moodle": f"Ada Lovelace_12399_assignsubmission_file_/{UNIT}.ipynb",
    "Moodle of today": f"Ada Lovelace_12399_assignsubmission_file/{UNIT}.ipynb",
    "Moodle without folders": f"Ada Lovelace_12399_assignsubmission_file_{UNIT}.ipynb",
    "Moodle, last name first": f"LOVELACE Ada_12399_assignsubmission_file_/work/{UNIT}.ipynb",
    "Blackboard": f"Unit 4_ada_attempt_2026-11-21-10-00-00_{UNIT}.ipynb",
    "GitHub Classroom": "04-training-loop-submissions/04-training-loop-ada/course/notebook.ipynb",
    "a name": "ada.ipynb",
    "a name in capitals": "ADA.IPYNB",
    "a folder": "ada/homework.ipynb",
    "unit and name": f"{UNIT}_ada.ipynb",
    "name and unit": f"ada-{UNIT}.ipynb",
    "a folder of the unit": f"{UNIT}/ada.ipynb",
    "the mail address": "a.lovelace@example.org.ipynb",
    "the mail address up to @": "a.lovelace/x.ipynb",
    "a full name": "Ada Lovelace.ipynb",
    "last, first": "Lovelace, Ada/homework (1).ipynb",
    "with other words": "homework 4 final - Ada Lovelace.ipynb",
    "what a browser made of it": f"ada/{UNIT}.ipynb.txt",
}


@pytest.mark.parametrize("name", ADA.values(), ids=ADA)
@pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])
def test_the_student_is_recognised_in_names_that_lmss_and_students_give(roster_class, tmp_path, name, zipped):
    intake = roster_class.take(packed(tmp_path / "all.zip", {name: work()}) if zipped else {name: work()})
    assert [(one.file, one.students, one.unit, one.reason) for one in intake.taken] == [(name, ("ada",), UNIT, "")]
    assert roster_class.has("ada") == work()
    assert intake.submissions == (("ada", UNIT),)
    assert intake.new_students == ()


def test_an_id_that_is_an_email_address_is_recognised_by_what_stands_before_its_at_sign(tmp_path):
    bare = BareClass(tmp_path, (Student("ada@example.org", "Ada", "Lovelace"), Student("eve@example.org", "Eve", "Adams")))
    bare.take({f"Unit 4_ada_attempt_2026-11-21-10-00-00_{UNIT}.ipynb": work(), f"eve/{UNIT}.ipynb": work()})
    assert bare.has("ada@example.org") == bare.has("eve@example.org") == work()


@pytest.mark.parametrize(
    ("name", "student"),
    [
        (f"obriensmithbób_5_6_{UNIT}.ipynb", "bob"),
        (f"Bob O'Brien Smith_5_assignsubmission_file_/{UNIT}.ipynb", "bob"),
        (f"unit-four-octobob/{UNIT}.ipynb", "bob"),
        ("Soren Zak.ipynb", "s-1"),
        ("s-1.ipynb", "s-1"),
        (f"S-1/{UNIT}.ipynb", "s-1"),
        ("chi.two.ipynb", "chi2"),
    ],
)
def test_accents_case_and_punctuation_are_ignored(roster_class, name, student):
    assert [one.students for one in roster_class.take({name: work()}).taken] == [(student,)]


@pytest.mark.parametrize(
    ("name", "student"),
    [
        (f"Björk_7_assignsubmission_file_{UNIT}.ipynb", "b-1"),
        (f"björk_7_8_{UNIT}.ipynb", "b-1"),
        (f"Suharto_7_assignsubmission_file/{UNIT}.ipynb", "s-2"),
    ],
)
def test_a_student_with_one_name_is_recognised_by_it(tmp_path, name, student):
    with_one_name = (*ROSTER, Student("b-1", "Björk", ""), Student("s-2", "", "Suharto"))
    assert [one.students for one in BareClass(tmp_path, with_one_name).take({name: work()}).taken] == [(student,)]


def test_one_name_is_not_looked_for_among_other_words(tmp_path):
    intake = BareClass(tmp_path, (*ROSTER, Student("b-1", "Björk", ""))).take({"Björk Adams.ipynb": work()})
    assert intake.taken == ()


UNRECOGNISED = {
    f"Chi Minh_7_assignsubmission_file_/{UNIT}.ipynb": "'chi1' or 'chi2'",
    f"minhchi_7_8_{UNIT}.ipynb": "'chi1' or 'chi2'; name it after the id of one of them, or give one of them the lms_user_id 7",
    "ada_and_bob.ipynb": "may be 'ada' or 'bob'; name it after the id of one of them; or add the line ada_and_bob,ID to ",
    f"lovelaceada_999_1_{UNIT}.ipynb": "number 999 is not",
    f"malloryeve_5_6_{UNIT}.ipynb": "no student of the class is called 'malloryeve'",
    f"anon_x7dF_6_{UNIT}.ipynb": "marked anonymously",
    f"Participant_6_assignsubmission_file_/{UNIT}.ipynb": "marked anonymously",
    f"inbound/eve+{UNIT}+{TIME}/{UNIT}.ipynb": "no student of the class is called 'eve'",
    f"submission_5/{UNIT}.ipynb": "submission_metadata.yml",
    f"{UNIT}.ipynb": "no student of the class is named in it",
}


@pytest.mark.parametrize("name", UNRECOGNISED)
def test_a_student_who_is_not_named_for_certain_is_not_guessed(roster_class, name):
    intake = roster_class.take({name: work()})
    assert [one.file for one in intake.unrecognised] == [name]
    assert UNRECOGNISED[name] in intake.unrecognised[0].reason
    assert not roster_class.submitted.exists()


POSING = [
    f"malloryeve_5_6_ada_attempt_2026-11-21-10-00-00_{UNIT}.ipynb",
    "77777_5_6_ada.ipynb",
    "_5_6_ada.ipynb",
    f"04-training-loop-x-ada/{UNIT}.ipynb",
    f"eve_5_6_ada_12345_7_{UNIT}.ipynb",
    f"Eve Mallory_5_assignsubmission_file_/ada/{UNIT}/{UNIT}.ipynb",
    f"Eve Mallory_5_assignsubmission_file_Ada Lovelace_6_assignsubmission_file_{UNIT}.ipynb",
    f"x_eve_attempt_2026-11-21-10-00-00_ada_attempt_2026-11-21-10-00-01_{UNIT}.ipynb",
    f"eve+{UNIT}+{TIME}/ada+{UNIT}+{TIME}/{UNIT}.ipynb",
    f"submission_6/ada/{UNIT}.ipynb",
]


@pytest.mark.parametrize("name", POSING)
def test_a_name_that_the_student_chose_cannot_name_another_student(roster_class, name):
    assert roster_class.take({name: work()}).taken == ()


def test_an_unknown_folder_next_to_folders_of_students_is_not_searched_for_names(roster_class):
    intake = roster_class.take({f"bob/{UNIT}.ipynb": work(), "eve/ada.ipynb": work("stolen")})
    assert [one.students for one in intake.taken] == [("bob",)]
    assert "'eve' names no student" in intake.unrecognised[0].reason


def test_an_unknown_archive_next_to_files_of_students_is_not_searched_for_names_but_a_folder_of_a_unit_is(roster_class):
    intake = roster_class.take({"bob.ipynb": work(), "eve.zip/ada.ipynb": work("stolen"), f"{UNIT}/ada.ipynb": work()})
    assert [one.students for one in intake.taken] == [("ada",), ("bob",)]
    assert [one.file for one in intake.unrecognised] == ["eve.zip/ada.ipynb"]


def test_the_content_of_an_archive_does_not_decide_whose_it_is(roster_class, tmp_path):
    inner = packed(tmp_path / "inner.zip", {"submission_metadata.yml": b"", f"ada/{UNIT}.ipynb": work()}).read_bytes()
    assert [one.students for one in roster_class.take({"bob.zip": inner}).taken] == [("bob",)]


def test_in_gradescopes_export_a_submission_of_a_group_counts_for_each_member(roster_class):
    root = "assignment_1_export"
    intake = roster_class.take({f"{root}/submission_metadata.yml": GRADESCOPE, f"{root}/submission_71/{UNIT}.ipynb": work()})
    assert [one.students for one in intake.taken] == [("ada", "bob")]
    assert roster_class.time("bob") == "2026-11-21 10:30:00.000000 UTC"
    assert roster_class.has("ada") == roster_class.has("bob") == work()


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"- " * 5000, b"[" * 100_000, b"submission_71: 3", b"a: &a [*a]", b"!!python/object:os.x {}"]
)
def test_a_damaged_gradescope_description_names_no_student(roster_class, text):
    intake = roster_class.take({"submission_metadata.yml": text, f"submission_71/{UNIT}.ipynb": work()})
    assert len(intake.unrecognised) == 1


@pytest.mark.parametrize(
    ("name", "student"),
    [
        (f"ada/{UNIT}/{UNIT}.ipynb", "ada"),
        (f"2026/ada/{UNIT}/x.ipynb", "ada"),
        (f"ada/{UNIT}-1.ipynb", "ada"),
        ("ada (1).ipynb", "ada"),
        ("s-1.ipynb", "s-1"),
        (f"{UNIT}_ada.ipynb", "ada"),
        (f"ada+{UNIT}+{TIME}/{UNIT}.ipynb", "ada"),
        (f"lovelaceada_12_34_{UNIT}.ipynb", "lovelaceada-12"),
        (f"Ada Lovelace_12_assignsubmission_file_/{UNIT}.ipynb", "ada-lovelace"),
        (f"Unit_ada_attempt_2026-01-02-03-04-05_{UNIT}.ipynb", "ada"),
    ],
)
def test_without_a_roster_ids_are_derived_from_names_and_reported_as_new(open_class, name, student):
    intake = open_class.take({name: work()})
    assert intake.submissions == ((student, UNIT),)
    assert intake.new_students == (student,)


AMBIGUOUS = [
    [f"{UNIT}.ipynb"],
    [f"{UNIT}-1.ipynb"],
    ["a/b/x.ipynb"],
    ["Ada Lovelace.ipynb"],
    ["section/ada.ipynb", "section/bob.ipynb"],
    ["section/s-1.ipynb", "section/s-2.ipynb"],
    [f"Ada L_1_assignsubmission_file_/{UNIT}.ipynb", f"Ada L_2_assignsubmission_file_/{UNIT}.ipynb"],
]


@pytest.mark.parametrize("names", AMBIGUOUS, ids=lambda names: names[0])
def test_without_a_roster_an_ambiguous_name_is_not_recognised(open_class, names):
    intake = open_class.take({name: work(name) for name in names})
    assert [one.file for one in intake.unrecognised] == names
    assert not open_class.submitted.exists()


def test_reading_a_long_name_takes_no_noticeable_time():
    for text in ("a_" * 120, "_1" * 120, "a" * 255, "1_2_" * 60, "x_attempt_" * 25, "+" * 255):
        assert len(claims(text, {})) <= 1
        assert len(strip_lms_decoration(text)) <= 255
