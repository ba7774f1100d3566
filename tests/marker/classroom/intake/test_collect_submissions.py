"""What students hand in arrives where nbgrader looks for it, and nothing is lost."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from graded_class import FULL, GradedClass
from handed_in import GRADESCOPE, OTHER, ROSTER, TIME, UNIT, Class, fill, packed, work
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.enrolment import enrol
from autograder.classroom.intake.collect_submissions import collect
from autograder.classroom.intake.sources import SourceError, opened
from autograder.publishing.nbgrader_course import config_text, course_directory


def test_what_is_no_notebook_is_named_unless_it_came_with_one(room):
    intake = room.take({"ada/a.ipynb": work(), "ada/report.pdf": b"", "bob/report.pdf": b"", "readme.txt": b""})
    assert [one.file for one in intake.ignored] == ["ada/report.pdf"]
    assert [str(one) for one in intake.unrecognised] == [
        "bob/report.pdf: is no notebook; ask 'bob' for the .ipynb file",
        "readme.txt: is no notebook; if a student handed it in, ask for the .ipynb file",
    ]


def test_what_systems_leave_behind_is_ignored(room):
    names = [
        "__MACOSX/ada/._x.ipynb",
        ".DS_Store",
        "ada/.ipynb_checkpoints/x-checkpoint.ipynb",
        "ada/loss.PNG",
        "ada/.git/HEAD",
    ]
    intake = room.take(dict.fromkeys(names, b"x"))
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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=TREES, zipped=st.booleans(), roster=st.booleans())
def test_every_file_of_any_tree_is_in_one_class_and_nothing_else_is_written(tmp_path_factory, tree, zipped, roster):
    place = tmp_path_factory.mktemp("tree")
    room, source = Class(place, ROSTER if roster else ()), place / "source"
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
    intake = room.take(source)
    first = room.everything()
    classes = (intake.taken, intake.unchanged, intake.older, intake.unrecognised, intake.ignored)
    assert sorted(one.file for kind in classes for one in kind) == names
    assert all(one.reason.strip() and one.reason.isprintable() for kind in classes[1:] for one in kind)
    assert {path.name for path in place.iterdir()} <= {"class", "source", "source.zip"}
    assert all(Path(name).name in {f"{u}.ipynb" for u in (UNIT, OTHER)} | {"timestamp.txt"} for name in first)
    again = room.take(source)
    assert (again.taken, room.everything()) == ((), first)


@pytest.fixture
def bare_class(tmp_path) -> Path:
    """A class of which only the configuration is there."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class/nbgrader_config.py").write_text(config_text(0))
    return tmp_path / "class"


@pytest.mark.slow
def test_the_students_are_those_of_the_class_s_gradebook(bare_class, tmp_path):
    enrol(ROSTER, course_directory(bare_class).db_url)
    intake = collect(bare_class, fill(tmp_path / "s", {f"lovelaceada_12345_7_{UNIT}.ipynb": work(), "eve.ipynb": work()}))
    assert intake.summary == "1 taken, 0 unchanged, 0 older, 1 unrecognised, 0 ignored"
    assert (bare_class / "submitted/ada" / UNIT / f"{UNIT}.ipynb").read_bytes() == work()


def test_nbgrader_reads_the_time_that_is_written(bare_class, tmp_path):
    collect(bare_class, fill(tmp_path / "s", {f"ada+{UNIT}+2026-11-21 10:00:00.000000 CET/{UNIT}.ipynb": work()}))
    when = course_directory(bare_class).get_existing_timestamp(str(bare_class / "submitted/ada" / UNIT))
    assert when == datetime(2026, 11, 21, 9)


def test_a_gradebook_that_cannot_be_read_is_named(bare_class, tmp_path):
    (bare_class / "gradebook.db").write_text("nothing of the kind, at some length")
    with pytest.raises(ValueError, match=r"gradebook\.db: "):
        collect(bare_class, fill(tmp_path / "s", {"ada.ipynb": work()}))


def test_a_class_without_a_gradebook_has_no_roster_and_gets_none(bare_class, tmp_path):
    assert collect(bare_class, fill(tmp_path / "s", {"eve.ipynb": work()})).new_students == ("eve",)
    assert not (bare_class / "gradebook.db").exists()


@pytest.mark.parametrize("part", ["", "..", "submitted", "submitted/ada"])
def test_a_class_is_not_its_own_source(bare_class, part):
    with pytest.raises(SourceError, match="part of the class"):
        collect(bare_class, bare_class / part)


def test_a_directory_that_is_no_class_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is no class"):
        collect(tmp_path, tmp_path)


def test_a_unit_that_does_not_exist_is_refused(bare_class, tmp_path):
    with pytest.raises(SourceError, match="no unit is called '04'"):
        collect(bare_class, tmp_path, "04")


@pytest.mark.slow
def test_grading_from_a_download_takes_it_in_marks_it_and_names_what_it_could_not_take(tmp_path, scheduler):
    (tmp_path / "roster.csv").write_text('Student,ID,SIS Login ID\n"Lovelace, Ada",12345,ada\n"Minh, Chi",6,chi\n')
    course = GradedClass(tmp_path, scheduler, "--roster", str(tmp_path / "roster.csv"))
    download = {
        f"lovelaceada_12345_7_{course.unit}.ipynb": course.untouched,
        f"lovelaceada_LATE_12345_8_{course.unit}-1.ipynb": course.right,
        "minhchi_6_9_homework.ipynb": b"{",
        f"eve_5_6_{course.unit}.ipynb": course.right,
    }
    source = packed(tmp_path / "submissions.zip", download)
    done = course.grade("--from", str(source), "--units", course.unit[:2], status=1)
    assert course.scores() == {"ada": FULL, "chi": 0.0}
    assert "submissions.zip: 2 taken, 0 unchanged, 1 older, 1 unrecognised, 0 ignored" in done.said
    assert f"{course.unit}-1.ipynb is newer" in done.said
    assert "no student of the class is called 'eve'" in done.complained
    again = course.grade("--from", str(source), "--units", course.unit[:2], status=1)
    assert "0 marked, 2 unchanged" in again.said


def test_grading_from_what_is_not_there_is_refused(bare_class):
    result = CliRunner().invoke(app, ["grade", str(bare_class), "--from", str(bare_class / "../none.zip")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "there is no such folder or zip file" in result.stderr
