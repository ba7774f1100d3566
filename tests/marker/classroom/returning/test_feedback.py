"""Every student gets their own page back, by the way their work came."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.marking.marked_notebook import nothing_to_mark

pytestmark = pytest.mark.slow

UNIT = "03_accumulate"
ROSTER = """id,first_name,last_name,lms_user_id
ada,Ada,Lovelace,12345
bob,Bob,Noyce,
eve,Eve,Adams,777
"""
MARKER = "handed in by"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A class where ada and bob have been graded: what they handed in is in the gradebook, and says whose it is."""
    root = tmp_path_factory.mktemp("feedback")
    (root / "roster.csv").write_text(ROSTER)
    for command in (["init", "--roster", str(root / "roster.csv"), "--units", "03"], ["release", "--units", "03"]):
        result = CliRunner().invoke(app, [command[0], str(root / "class"), *command[1:]])
        assert result.exit_code == 0, result.output
    released = (root / "class/release" / UNIT / f"{UNIT}.ipynb").read_text()
    for student in ("ada", "bob"):
        work = released.replace("# 03 · ", f"# {MARKER} {student}: ", 1)
        assert MARKER in work
        place = root / "class/submitted" / student / UNIT / f"{UNIT}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(work)
        ClassToMark(root / "class").recorder.record(student, UNIT, work)
    return root / "class"


@pytest.fixture
def feedback(course, tmp_path, monkeypatch):
    """Run the command in an empty directory: its exit status, the pages in the zip by name, and what it complained of."""
    monkeypatch.chdir(tmp_path)

    def feedback(*options: str):
        result = CliRunner().invoke(app, ["feedback", str(course), *options])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        pages = {}
        if Path("feedback.zip").exists():
            with zipfile.ZipFile("feedback.zip") as archive:
                pages = {name: archive.read(name).decode() for name in archive.namelist()}
        complaints = [line for line in result.stderr.splitlines() if line.startswith("gradaccum")]
        return result.exit_code, pages, [line.removeprefix("gradaccum classroom feedback: ") for line in complaints]

    return feedback


@pytest.fixture
def download(course, tmp_path):
    """A folder with ada's and bob's work under the names that an LMS gives them."""

    def download(ada: str, bob: str) -> str:
        for name, student in ((ada, "ada"), (bob, "bob")):
            path = tmp_path / "download" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((course / "submitted" / student / UNIT / f"{UNIT}.ipynb").read_bytes())
        return str(tmp_path / "download")

    return download


@pytest.mark.parametrize(
    ("ada", "bob", "pages"),
    [
        pytest.param(
            f"Ada Lovelace_11_assignsubmission_file/{UNIT}.ipynb",
            f"Bob Noyce_12_assignsubmission_file_{UNIT}.ipynb",
            [f"Ada Lovelace_11_assignsubmission_file_{UNIT}.html", f"Bob Noyce_12_assignsubmission_file_{UNIT}.html"],
            id="Moodle",
        ),
        pytest.param(
            f"lovelaceada_LATE_12345_67890_{UNIT}-1.ipynb",
            "noycebob_222_67891_my work.ipynb",
            [f"lovelaceada_LATE_12345_67890_{UNIT}.html", f"noycebob_222_67891_{UNIT}.html"],
            id="Canvas",
        ),
        pytest.param(f"ada/{UNIT}.ipynb", "bob.ipynb", [f"ada/{UNIT}.html", f"bob/{UNIT}.html"], id="plain"),
    ],
)
def test_pages_are_called_as_whoever_handed_out_the_work_knows_them(feedback, download, ada, bob, pages):
    status, found, complaints = feedback("--from", download(ada, bob))
    assert (status, list(found), complaints) == (0, pages, [])
    for page, student in zip(found.values(), ("ada", "bob"), strict=True):
        assert f"{MARKER} {student}" in page


def test_of_several_attempts_the_newest_gets_the_page(feedback, download):
    source = download(f"lovelaceada_12345_100_{UNIT}.ipynb", f"lovelaceada_12345_101_{UNIT}.ipynb")
    assert list(feedback("--from", source)[1]) == [f"lovelaceada_12345_101_{UNIT}.html"]


def test_of_two_people_with_one_name_neither_gets_the_others_page(feedback, download):
    source = download(
        f"Ada Lovelace_11_assignsubmission_file_{UNIT}.ipynb", f"Ada Lovelace_12_assignsubmission_file_{UNIT}.ipynb"
    )
    status, pages, complaints = feedback("--from", source)
    assert (status, pages) == (1, {})
    assert len(complaints) == 2
    assert all("two people have the name of 'ada'" in complaint for complaint in complaints)


def test_what_has_not_been_graded_and_what_nobody_is_known_of_are_named(feedback, download):
    source = download(f"adamseve_777_100_{UNIT}.ipynb", f"nobody_999_100_{UNIT}.ipynb")
    status, pages, complaints = feedback("--from", source)
    assert (status, pages) == (1, {})
    assert "nobody_999_100" in complaints[0]
    assert complaints[1].startswith(f"not graded yet, so without a page: eve, {UNIT}; use gradaccum classroom grade")


def test_without_a_download_everybody_gets_a_page_and_there_is_no_zip(feedback, course):
    status, pages, complaints = feedback()
    assert (status, pages, complaints) == (0, {}, [])
    assert sorted(path.parts[-3] for path in (course / "feedback").rglob("*.html")) == ["ada", "bob"]


def test_students_can_be_picked(feedback, download):
    _, pages, _ = feedback("--students", "bob", "--from", download("ada.ipynb", "bob.ipynb"))
    assert list(pages) == [f"bob/{UNIT}.html"]


def test_a_page_that_cannot_be_made_is_said_and_the_others_are_made(feedback, course, download, tmp_path):
    source, stranger = download("ada.ipynb", "bob.ipynb"), course / "autograded/eve" / UNIT / f"{UNIT}.ipynb"
    (tmp_path / "download/eve.ipynb").write_bytes((tmp_path / "download/ada.ipynb").read_bytes())
    stranger.parent.mkdir(parents=True)
    stranger.write_bytes((course / "autograded/ada" / UNIT / f"{UNIT}.ipynb").read_bytes())
    try:
        status, pages, complaints = feedback("--from", source)
    finally:
        stranger.unlink()
        stranger.parent.rmdir()
    assert (status, list(pages)) == (1, [f"ada/{UNIT}.html", f"bob/{UNIT}.html"])
    assert complaints[0].startswith(f"eve, {UNIT}: ")
    assert complaints[0].endswith("there is no page, grade it again")


def test_a_zip_that_cannot_be_written_is_said_in_one_line(feedback, download):
    status, _, complaints = feedback("--from", download("ada.ipynb", "bob.ipynb"), "--to", "/proc/feedback.zip")
    assert status == 2
    assert len(complaints) == 1
    assert "/proc" in complaints[0]


def test_a_source_that_is_none_is_said_in_one_line(feedback):
    assert feedback("--from", "nothing.zip")[2] == ["nothing.zip: there is no such folder or zip file"]


@pytest.fixture
def eve(course):
    """Eve's file could not be read; since then a person has given points for two exercises, and left a comment."""
    from nbgrader.api import Gradebook

    work = nbformat.writes(nothing_to_mark(UNIT, "It is <not> a notebook.").notebook)
    place = course / "submitted/eve" / UNIT / f"{UNIT}.ipynb"
    place.parent.mkdir(parents=True)
    place.write_text(work)
    ClassToMark(course).recorder.record("eve", UNIT, work)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        for exercise, points in (("accumulate_gradient", 2.5), ("sum_form_lr", 2)):
            gradebook.find_grade(exercise, UNIT, UNIT, "eve").manual_score = points
        gradebook.find_comment("accumulate_gradient-solution", UNIT, UNIT, "eve").manual_comment = "Come and see me."
        gradebook.db.commit()
    yield course / "feedback/eve" / UNIT / f"{UNIT}.html"
    shutil.rmtree(course / "submitted/eve")
    shutil.rmtree(course / "autograded/eve")


def head(page: Path) -> str:
    """What stands above the notebook, without tags."""
    above = page.read_text().partition('class="panel-heading"')[2].partition('class="panel-body"')[0]
    return " ".join(re.sub(r"<[^>]+>", " ", above).partition(">")[2].rpartition("<")[0].split())


def test_a_page_begins_with_what_each_exercise_earned_and_leads_there(feedback, eve):
    feedback("--students", "eve")
    assert head(eve) == (
        "03_accumulate Your file could not be read, so below is what was handed out. It is &lt;not&gt; a notebook."
        " exercise points accumulate_gradient a comment for you ◐ accumulate_gradient 2.5 of 6 partly"
        " ✓ sum_form_lr 2 of 2 solved ✗ same_update 0 of 2 no points yet together 4.5 of 10"
    )
    page = eve.read_text()
    for place in ("accumulate_gradient", "comment-accumulate_gradient-solution"):
        assert f'href="#{place}"' in page
        assert f'name="{place}"' in page


def test_an_instructor_may_choose_another_look(feedback, course, eve):
    config = course / "nbgrader_config.py"
    before = config.read_text()
    config.write_text(f'{before}\nc.HTMLExporter.template_name = "feedback"\n')
    try:
        feedback("--students", "eve")
    finally:
        config.write_text(before)
    assert head(eve).startswith("03_accumulate (Score: 4.5 / 10.0) Comment Test cell (Score: 2.5 / 6.0)")
