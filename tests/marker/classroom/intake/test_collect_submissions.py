"""What students hand in gets to where nbgrader looks for it, and nothing is lost."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from graded_class import FULL
from handed_in import GRADESCOPE, OTHER, ROSTER, TIME, UNIT, BareClass, fill, packed, work
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.enrolment import enrol
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.intake.collect_submissions import collect
from autograder.classroom.intake.sources import SourceError, opened
from autograder.classroom.students import IN_TIME_MARK, MOODLE_MARK, TIME_FILE, Student
from autograder.classroom.taking_in import taken_in
from autograder.publishing.nbgrader_course import config_text, course_directory


def test_a_file_that_is_not_a_notebook_is_named_unless_it_came_with_one(roster_class):
    intake = roster_class.take({"ada/a.ipynb": work(), "ada/report.pdf": b"", "bob/report.pdf": b"%PDF-1.7", "readme.txt": b""})
    assert [one.file for one in intake.ignored] == ["ada/report.pdf"]
    assert [str(one) for one in intake.unrecognised] == [
        "bob/report.pdf: is a PDF; ask for the .ipynb file (handed in by 'bob')",
        "readme.txt: is no notebook; if a student handed it in, ask for the .ipynb file",
    ]


def test_what_an_instructor_calls_a_notebook_is_taken_whatever_it_is(roster_class):
    intake = roster_class.take({"ada.ipynb": b"%PDF-1.7"}, UNIT)
    assert intake.submissions == (("ada", UNIT),)


def test_a_file_of_nobody_in_the_class_may_be_of_somebody_who_has_left(roster_class):
    intake = roster_class.take(
        {"ada/a.ipynb": work(), "eve/a.ipynb": work(), "Eve Adams_9_assignsubmission_file_a.ipynb": work()}
    )
    assert all("if they have left the class, there is nothing to do" in one.reason for one in intake.unrecognised)
    assert len(intake.unrecognised) == 2


@pytest.mark.parametrize("name", ["ada.json", "ada.txt", "ada", "ada/answers", "ada/work.json"])
def test_a_notebook_that_is_not_called_one_is_taken(roster_class, name):
    intake = roster_class.take({name: work()})
    assert [(one.students, one.unit) for one in intake.taken] == [(("ada",), UNIT)]


def test_python_and_markdown_are_taken_from_students_who_hand_in_nothing_else(roster_class):
    script = b"def name_that_loop():\n    return {}\n"
    markdown = b"# My answers\n\n```python\n" + script + b"```\n"
    intake = roster_class.take({"ada.py": script, "bob/answers.md": markdown})
    assert [(one.students, one.unit) for one in intake.taken] == [(("ada",), UNIT), (("bob",), UNIT)]


def test_files_made_by_operating_systems_and_tools_are_ignored(roster_class):
    names = [
        "__MACOSX/ada/._x.ipynb",
        ".DS_Store",
        "ada/.ipynb_checkpoints/x-checkpoint.ipynb",
        "ada/loss.PNG",
        "ada/.git/HEAD",
        "Unit 4_ada_attempt_2026-11-21-10-00-00.txt",
    ]
    intake = roster_class.take(dict.fromkeys(names, b"x"))
    assert sorted(one.file for one in intake.ignored) == sorted(names)


NAMES = st.sampled_from(
    [
        *(
            "ada",
            "bob",
            "eve",
            UNIT,
            OTHER,
            "x.ipynb",
            "ada.ipynb",
            "bob (1).ipynb",
            "..",
            "\\",
            "a\x07.ipynb",
            "._x",
            "pic.png",
        ),
        *(
            f"{UNIT}.ipynb",
            f"{UNIT}-1.ipynb",
            f"ada+{UNIT}+{TIME}",
            "lovelaceada_12345_7_x.ipynb",
            "submission_71",
            "notes.txt",
        ),
        *(
            "Ada Lovelace_1_assignsubmission_file_",
            "submission_metadata.yml",
            "timestamp.txt",
            "u_ada_attempt_2026-01-02-03-04-05",
        ),
    ]
)
CONTENTS = st.sampled_from([b"", work(), work("y = 2"), work(unit=OTHER), b"{", GRADESCOPE, TIME.encode()])
TREES = st.dictionaries(st.lists(NAMES, min_size=1, max_size=4).map(tuple), CONTENTS, max_size=10)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(tree=TREES, zipped=st.booleans(), roster=st.booleans())
@pytest.mark.slow
def test_every_file_of_any_tree_is_in_exactly_one_group_and_nothing_else_is_written(tmp_path_factory, tree, zipped, roster):
    place = tmp_path_factory.mktemp("tree")
    roster_class, source = BareClass(place, ROSTER if roster else ()), place / "source"
    source.mkdir()
    if zipped:
        source = packed(place / "source.zip", {"/".join(parts): content for parts, content in (tree | {("z",): b""}).items()})
    else:
        for parts, content in tree.items():
            path = source.joinpath(*(part for part in parts if part != ".."))
            if not any(above.is_file() for above in path.parents) and not path.is_dir() and path != source:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    with opened(source) as files:
        names = sorted(file.name for file in files)
    intake = roster_class.take(source)
    first = roster_class.everything()
    groups = (intake.taken, intake.unchanged, intake.older, intake.unrecognised, intake.ignored)
    assert sorted(one.file for group in groups for one in group) == names
    assert all(one.reason.strip() and one.reason.isprintable() for group in groups[1:] for one in group)
    assert {path.name for path in place.iterdir()} <= {"class", "source", "source.zip"}
    assert all(
        Path(name).name in {f"{u}.ipynb" for u in (UNIT, OTHER)} | {TIME_FILE, IN_TIME_MARK, MOODLE_MARK} for name in first
    )
    again = roster_class.take(source)
    assert (again.taken, roster_class.everything()) == ((), first)


@pytest.fixture
def bare_class(tmp_path) -> Path:
    """A class with only a configuration."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class/nbgrader_config.py").write_text(config_text(""))
    return tmp_path / "class"


@pytest.mark.slow
def test_the_roster_is_read_from_the_gradebook_of_the_class(bare_class, tmp_path):
    enrol(ROSTER, course_directory(bare_class).db_url)
    intake = collect(bare_class, fill(tmp_path / "s", {f"lovelaceada_12345_7_{UNIT}.ipynb": work(), "eve.ipynb": work()}))
    assert intake.summary == "1 taken, 0 unchanged, 0 older, 1 unrecognised, 0 ignored"
    assert (bare_class / "submitted/ada" / UNIT / f"{UNIT}.ipynb").read_bytes() == work()


def test_nbgrader_can_read_the_timestamp(bare_class, tmp_path):
    collect(bare_class, fill(tmp_path / "s", {f"ada+{UNIT}+2026-11-21 10:00:00.000000 CET/{UNIT}.ipynb": work()}))
    when = course_directory(bare_class).get_existing_timestamp(str(bare_class / "submitted/ada" / UNIT))
    assert when == datetime(2026, 11, 21, 9)


def test_a_gradebook_that_cannot_be_read_is_named(bare_class, tmp_path):
    (bare_class / "gradebook.db").write_text("nothing of the kind, at some length")
    with pytest.raises(ValueError, match=r"gradebook\.db: "):
        collect(bare_class, fill(tmp_path / "s", {"ada.ipynb": work()}))


def test_a_class_without_a_gradebook_has_no_roster_and_gets_no_gradebook(bare_class, tmp_path):
    assert collect(bare_class, fill(tmp_path / "s", {"eve.ipynb": work()})).new_students == ("eve",)
    assert not (bare_class / "gradebook.db").exists()


@pytest.mark.parametrize("part", ["", "..", "submitted", "submitted/ada"])
def test_a_source_that_is_part_of_the_class_is_refused(bare_class, part):
    with pytest.raises(SourceError, match="part of the class"):
        collect(bare_class, bare_class / part)


def test_a_directory_that_is_not_a_class_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is no class"):
        collect(tmp_path, tmp_path)


@pytest.mark.parametrize("unit", [UNIT, None])
def test_that_an_assignment_was_not_late_says_nothing_of_a_notebook_of_another_unit_that_came_with_it(roster_class, unit):
    download = {
        "lovelaceada_12345_12_homework.ipynb": work(),
        "obriensmithbob_13_14_homework.ipynb": work(),
        "żaksøren_15_16_homework.ipynb": work(unit=OTHER),
    }
    owners = {one.students[0]: one.unit for one in roster_class.take(download, unit).taken}
    assert sorted(owners.values()) == sorted([UNIT, UNIT, OTHER])
    said = {student: (roster_class.submitted / student / owners[student] / IN_TIME_MARK).exists() for student in owners}
    assert said == {student: owners[student] == UNIT for student in owners}


def test_a_unit_that_does_not_exist_is_refused(bare_class, tmp_path):
    with pytest.raises(SourceError, match="no unit is called '04'"):
        collect(bare_class, tmp_path, "04")


@pytest.mark.slow
def test_grading_from_a_download_takes_and_marks_the_newest_files_and_names_unrecognised_ones(course, tmp_path):
    students = (Student("ada", "Ada", "Lovelace", lms_user_id="12345"), Student("chi", "Chi", "Minh", lms_user_id="6"))
    enrol(students, course_directory(course.directory).db_url)
    download = {
        f"lovelaceada_12345_7_{course.unit}.ipynb": course.untouched,
        f"lovelaceada_LATE_12345_8_{course.unit}-1.ipynb": course.right,
        "minhchi_6_9_homework.ipynb": b"{",
        f"eve_5_6_{course.unit}.ipynb": course.right,
    }
    source = packed(tmp_path / "submissions.zip", download)
    result = course.grade("--from", str(source), "--units", course.unit[:2], status=1)
    assert course.scores() == {"ada": FULL, "chi": 0.0}
    assert "submissions.zip: 2 taken, 0 unchanged, 1 older, 1 unrecognised, 0 ignored" in result.output
    assert f"{course.unit}-1.ipynb is newer" in result.output
    assert "no student of the class is called 'eve'" in result.complaints
    more = packed(tmp_path / "more.zip", {"chi.ipynb": course.untouched})
    again = course.grade("--from", str(source), "--from", str(more), "--units", course.unit[:2], status=1)
    assert "submissions.zip: 0 taken, 2 unchanged" in again.output
    assert "more.zip: 1 taken, 0 unchanged" in again.output
    assert "1 marked, 1 unchanged" in again.output


def test_grading_from_a_source_that_does_not_exist_is_refused(bare_class):
    result = CliRunner().invoke(app, ["grade", str(bare_class), "--from", str(bare_class / "../none.zip")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "there is no such folder or zip file" in result.stderr


@pytest.mark.parametrize(
    "place", ["ada", f"ada/{UNIT}", f"ada/{UNIT}/{UNIT}.ipynb", f"ada/{UNIT}/timestamp.txt", f"ada/{UNIT}/late.txt"]
)
def test_nothing_is_stored_through_a_link_and_the_rest_is_stored(roster_class, tmp_path, place):
    elsewhere, link = tmp_path / "elsewhere", roster_class.submitted / place
    (elsewhere / UNIT).mkdir(parents=True)
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere / "file" if place.count("/") == 2 else elsewhere)
    taken = roster_class.take({f"ada/{UNIT}.ipynb": work(), f"bob/{UNIT}.ipynb": work("x = 2")})
    assert [(one.file, "is a link, which is not followed" in one.reason) for one in taken.unrecognised] == [
        (f"ada/{UNIT}.ipynb", True)
    ]
    assert roster_class.has("bob") == work("x = 2")
    assert [path for path in elsewhere.rglob("*") if not path.is_dir()] == []


@pytest.mark.parametrize("whole", [False, True])
def test_what_was_taken_for_another_unit_is_said_with_the_command_that_marks_it(bare_class, tmp_path, capsys, whole):
    units = {"ada": OTHER, "bob": OTHER if whole else UNIT}
    source = fill(tmp_path / "download", {f"{student}.ipynb": work(unit=unit) for student, unit in units.items()})
    taken_in(ClassToMark(bare_class), [source], None, [UNIT], "")
    said = capsys.readouterr().out
    # Only the unit's own download says which of its work was late.
    command = f"give grade --units {OTHER[:2]} --from {source}: ada, bob" if whole else f"give grade --units {OTHER[:2]}: ada"
    assert f"{len(units) if whole else 1} submission{'s' if whole else ''} of {OTHER} taken, not of {UNIT}" in said
    assert said.rstrip().split("\n")[1].endswith(command)
    fill(source, {"ada.ipynb": work("x = 2", unit=OTHER)})
    taken_in(ClassToMark(bare_class), [source], None, [OTHER], "")
    assert "in place of what was there before, which is kept: ada" in capsys.readouterr().out
