"""Every student gets their own page back, named so that the LMS their work came from returns it to them."""

from __future__ import annotations

import re
import shutil
import zipfile
from html import escape
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.enrolment import enrol
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.returning.decided_notes import Decisions
from autograder.classroom.returning.page_markdown import markdown_html, mathml
from autograder.classroom.students import Student
from autograder.contract.observation import Failure
from autograder.exercises import exercises_of
from autograder.marking.marked_notebook import nothing_to_mark, with_verdicts
from autograder.marking.marker import Marks
from autograder.publishing.nbgrader_course import course_directory
from autograder.reading.submissions import parse_submission

pytestmark = pytest.mark.slow

UNIT = "03_accumulate"
ROSTER = (
    Student("ada", "Ada", "Lovelace", lms_user_id="12345"),
    Student("bob", "Bob", "Noyce"),
    Student("eve", "Eve", "Adams", lms_user_id="777"),
)
MARKER = "handed in by"


@pytest.fixture(scope="module")
def course(released, tmp_path_factory) -> Path:
    """A class where ada and bob have been graded: what they handed in is in the gradebook, and says whose it is."""
    made = released.copied_to(tmp_path_factory.mktemp("feedback"))
    enrol(ROSTER, course_directory(made.directory).db_url)
    for student in ("ada", "bob"):
        work = made.untouched.decode().replace("# 03 · ", f"# {MARKER} {student}: ", 1)
        assert MARKER in work
        made.hand_in(student, work.encode())
        ClassToMark(made.directory).recorder.record(student, UNIT, work)
    return made.directory


@pytest.fixture
def feedback(course, tmp_path, monkeypatch):
    """Runs the command in an empty directory: its exit status, the pages in the zip by name, and its complaints."""
    monkeypatch.chdir(tmp_path)
    (course / "feedback.zip").unlink(missing_ok=True)

    def feedback(*options: str):
        result = CliRunner().invoke(app, ["feedback", str(course), *options])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        pages = {}
        if (course / "feedback.zip").exists():
            with zipfile.ZipFile(course / "feedback.zip") as archive:
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


@pytest.fixture
def made_at_once(course, monkeypatch):
    """Pages that only say whose they are, in place of those that nbgrader makes, for tests of what becomes of pages."""

    def make(marked_class: ClassToMark, student: str, unit: str, decisions: Decisions) -> Path:
        page = course / "pages" / student / f"{unit}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"{MARKER} {student}")
        return page

    monkeypatch.setattr("autograder.classroom.returning.feedback._make_page", make)


@pytest.mark.usefixtures("made_at_once")
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
def test_pages_in_the_zip_have_the_names_by_which_an_lms_recognises_the_student(feedback, download, ada, bob, pages):
    status, found, complaints = feedback("--from", download(ada, bob))
    assert (status, list(found), complaints) == (0, pages, [])
    for page, student in zip(found.values(), ("ada", "bob"), strict=True):
        assert f"{MARKER} {student}" in page


@pytest.mark.usefixtures("made_at_once")
def test_a_file_that_has_no_page_to_begin_with_is_named_and_no_failure(feedback, download, tmp_path):
    source = download("ada.ipynb", "bob.ipynb")
    (tmp_path / "download" / "eve.pdf").write_bytes(b"%PDF-1.7")
    status, pages, complaints = feedback("--from", source)
    assert (status, list(pages)) == (0, [f"ada/{UNIT}.html", f"bob/{UNIT}.html"])
    assert "eve.pdf: is a PDF; ask for the .ipynb file" in complaints[0]


def test_a_download_that_holds_nothing_of_the_unit_is_no_success(feedback, download, monkeypatch):
    monkeypatch.setattr("autograder.classroom.commands.pick_units_of_class", lambda *_: ["04_training_loop"])
    source = download("ada.ipynb", "bob.ipynb")
    status, pages, complaints = feedback("--units", "04", "--from", source)
    assert (status, pages) == (1, {})
    assert complaints == [f"{source}: holds nothing of 04_training_loop, but of {UNIT}"]


@pytest.fixture
def bob_has_marks(course):
    """Bob's marks are in ``marks/``, as grading leaves them."""
    marks = course / "marks" / "bob" / f"{UNIT}.json"
    marks.parent.mkdir(parents=True)
    marks.write_text("{}")
    yield
    shutil.rmtree(course / "marks")


@pytest.mark.usefixtures("made_at_once", "bob_has_marks")
def test_nothing_is_said_of_marked_submissions_that_are_not_in_the_download(feedback, download, tmp_path):
    source = Path(download("ada.ipynb", "bob.ipynb"))
    (source / "bob.ipynb").unlink()
    status, pages, complaints = feedback("--from", str(source))
    assert (status, list(pages), complaints) == (0, [f"ada/{UNIT}.html"], [])


def test_a_zip_is_made_for_one_download_at_a_time(feedback):
    status, pages, complaints = feedback("--from", "a.zip", "--from", "b.zip")
    assert (status, pages) == (2, {})
    assert complaints == ["a zip goes back to one assignment; give one --from at a time, each with a zip of its own (--to)"]


@pytest.mark.usefixtures("made_at_once")
def test_the_page_is_named_after_the_newest_attempt(feedback, download):
    source = download(f"lovelaceada_12345_100_{UNIT}.ipynb", f"lovelaceada_12345_101_{UNIT}.ipynb")
    assert list(feedback("--from", source)[1]) == [f"lovelaceada_12345_101_{UNIT}.html"]


@pytest.mark.usefixtures("made_at_once")
def test_the_page_is_named_after_the_newest_attempt_that_can_be_read(feedback, download, tmp_path):
    names = f"lovelaceada_12345_100_{UNIT}.ipynb", f"noycebob_222_101_{UNIT}.ipynb"
    source = Path(download(*names))
    with zipfile.ZipFile(tmp_path / "canvas.zip", "w") as archive:
        for name in names:
            archive.write(source / name, name)
        archive.writestr(f"lovelaceada_12345_103_{UNIT}-1.ipynb", b"")
    status, pages, _ = feedback("--from", tmp_path / "canvas.zip")
    assert (status, list(pages)) == (0, [name.replace(".ipynb", ".html") for name in names])


@pytest.mark.usefixtures("made_at_once")
def test_two_people_with_the_same_name_get_no_pages(feedback, download):
    source = download(
        f"Ada Lovelace_11_assignsubmission_file_{UNIT}.ipynb", f"Ada Lovelace_12_assignsubmission_file_{UNIT}.ipynb"
    )
    status, pages, complaints = feedback("--from", source)
    assert (status, pages) == (1, {})
    assert len(complaints) == 2
    assert all("two people have the name of 'ada'" in complaint for complaint in complaints)


@pytest.mark.usefixtures("made_at_once")
def test_ungraded_submissions_and_unrecognised_files_are_named(feedback, download):
    source = download(f"adamseve_777_100_{UNIT}.ipynb", f"nobody_999_100_{UNIT}.ipynb")
    status, pages, complaints = feedback("--from", source)
    assert (status, pages) == (1, {})
    assert any("nobody_999_100" in complaint for complaint in complaints)
    assert complaints[1].startswith(f"not graded yet, so without a page: eve, {UNIT}; use gradaccum classroom grade")


def test_without_a_download_each_graded_student_gets_a_page_of_their_own_work_and_there_is_no_zip(feedback, course):
    status, pages, complaints = feedback()
    assert (status, pages, complaints) == (0, {}, [])
    made = {path.parts[-3]: path.read_text() for path in (course / "feedback").rglob("*.html")}
    assert made.keys() == {"ada", "bob"}
    assert all(f"{MARKER} {student}" in page for student, page in made.items())


@pytest.mark.usefixtures("made_at_once")
def test_pages_can_be_limited_to_some_students(feedback, download):
    _, pages, _ = feedback("--students", "bob", "--from", download("ada.ipynb", "bob.ipynb"))
    assert list(pages) == [f"bob/{UNIT}.html"]


def test_a_page_that_cannot_be_made_is_named_and_the_others_are_made(feedback, course, download, tmp_path):
    source, stranger = download("ada.ipynb", "bob.ipynb"), course / "autograded/eve" / UNIT / f"{UNIT}.ipynb"
    (tmp_path / "download/eve.ipynb").write_bytes((tmp_path / "download/ada.ipynb").read_bytes())
    stranger.parent.mkdir(parents=True)
    stranger.write_bytes((course / "autograded/ada" / UNIT / f"{UNIT}.ipynb").read_bytes())
    try:
        status, pages, complaints = feedback("--from", source, "--students", "ada,eve")
    finally:
        stranger.unlink()
        stranger.parent.rmdir()
    assert (status, list(pages)) == (1, [f"ada/{UNIT}.html"])
    assert complaints[0].startswith(f"eve, {UNIT}: ")
    assert complaints[0].endswith("there is no page, grade it again")


@pytest.mark.usefixtures("made_at_once")
def test_a_zip_that_cannot_be_written_is_reported_in_one_line(feedback, download):
    status, _, complaints = feedback("--from", download("ada.ipynb", "bob.ipynb"), "--to", "/proc/feedback.zip")
    assert status == 2
    assert len(complaints) == 1
    assert "/proc" in complaints[0]


def test_a_source_that_does_not_exist_is_reported_in_one_line(feedback):
    assert feedback("--from", "nothing.zip")[2] == ["nothing.zip: there is no such folder or zip file"]


@pytest.fixture
def eve(course):
    """The path of eve's page. Her file could not be read; then a person gave points for two exercises, and left a comment."""
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
    """The text above the notebook, without tags."""
    above = page.read_text().partition('class="panel-heading"')[2].partition('class="panel-body"')[0]
    return " ".join(re.sub(r"<[^>]+>", " ", above).partition(">")[2].rpartition("<")[0].split())


def test_a_page_begins_with_the_points_of_each_exercise_and_links_to_it(feedback, eve):
    feedback("--students", "eve")
    assert head(eve) == (
        "03_accumulate Your file could not be read, so below is what was handed out. It is &lt;not&gt; a notebook."
        " exercise points ◐ accumulate_gradient 2.5 of 6 partly, changed by your instructor, with a comment"
        " ✓ sum_form_lr 2 of 2 solved, changed by your instructor ✗ same_update 0 of 2 no points together 4.5 of 10"
    )
    page = eve.read_text()
    assert 'href="#accumulate_gradient"' in page
    assert 'name="accumulate_gradient"' in page


def test_an_exercise_that_is_not_in_the_file_is_called_so_in_the_table_of_points(feedback, course, eve, released):
    kinds = {"sum_form_lr": "unwritten", "same_update": "absent"}
    verdicts = [one.failed(Failure(kinds.get(one.id, "raised"), "It says why.")) for one in exercises_of(UNIT)]
    submission = parse_submission(Path("03.ipynb"), released.untouched, UNIT)
    work = nbformat.writes(with_verdicts(submission, Marks("03.ipynb", UNIT, "cpu", tuple(verdicts))).notebook)
    ClassToMark(course).recorder.record("eve", UNIT, work)
    feedback("--students", "eve")
    assert "sum_form_lr 2 of 2 solved" in head(eve)  # by hand
    assert "same_update 0 of 2 not in the file together" in head(eve)


def test_what_is_folded_on_a_page_has_the_sign_that_it_can_be_opened(feedback, eve):
    feedback("--students", "eve")
    page = eve.read_text()
    assert "<summary" in page
    assert re.findall(r"summary\s*\{\s*display:\s*([\w-]+)", page)[-2:] == ["block", "list-item"]  # the last one counts


def test_the_configuration_can_choose_another_template(feedback, course, eve):
    config = course / "nbgrader_config.py"
    before = config.read_text()
    config.write_text(f'{before}\nc.HTMLExporter.template_name = "feedback"\n')
    try:
        feedback("--students", "eve")
    finally:
        config.write_text(before)
    assert head(eve).startswith("03_accumulate (Score: 4.5 / 10.0) Test cell (Score: 2.5 / 6.0)")


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_a_marked_notebook_that_is_lost_is_named(course, feedback, download, how):
    marks, marked = course / "marks" / "ada" / f"{UNIT}.json", course / "autograded" / "ada" / UNIT / f"{UNIT}.ipynb"
    kept = marked.read_bytes()
    marks.parent.mkdir(parents=True, exist_ok=True)
    marks.write_text("{}")
    try:
        marked.unlink() if how == "deleted" else marked.write_bytes(b"")
        status, pages, complaints = feedback("--students", "ada")
        assert feedback("--students", "ada", "--from", download("ada.ipynb", "bob.ipynb"))[2] == complaints
    finally:
        marked.write_bytes(kept)
        shutil.rmtree(course / "marks")
    assert (status, pages) == (1, {})
    (lost,) = (line for line in complaints if "marked notebooks are not in autograded/" in line)
    assert f"so there is no page: ada, {UNIT}; use gradaccum classroom grade " in lost
    assert lost.rstrip().endswith(f"--units {UNIT[:2]} --students ada --again")


def test_a_page_shows_formulas_and_loads_nothing_from_another_host(feedback, eve):
    feedback("--students", "eve")
    page = eve.read_text()
    assert "<math" in page
    assert re.findall(r"""src=["'](?:https?:)?//[^"']*|MathJax""", page) == []


@pytest.mark.parametrize(
    "formula",
    [
        r"\left( x",
        "x" * 3000,
        r"\href{javascript:alert(1)}{x}",
        r"\text{<script>alert(1)</script>}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{</mtext></math><script>alert(1)</script>}",
        r"\text{&lt;script&gt;<b>}",
    ],
)
def test_a_formula_that_is_wrong_or_more_than_a_formula_is_shown_as_it_was_written(formula):
    assert mathml(formula, "inline") == f"<code>{escape(formula)}</code>"


def test_signs_in_a_formula_are_escaped():
    assert "<mo>&lt;</mo>" in mathml("a < b", "inline")
    assert "<mtext>&lt;script&gt;</mtext>" in mathml(r"\text{&lt;script&gt;}", "inline")
    assert 'mathcolor="red&quot; onmouseover=&quot;alert(1)"' in mathml(r'\color{red" onmouseover="alert(1)}{x}', "inline")


@pytest.mark.parametrize(("formula", "sign"), [(r"\alpha'", "α</mi><mo>′"), ("f''", "f</mi><mo>″"), ("x^2", "x</mi><mn>2")])
def test_a_prime_is_as_large_as_what_it_marks(formula, sign):
    assert sign in mathml(formula, "inline")
    assert ("<msup>" in mathml(formula, "inline")) == ("^" in formula)


@pytest.mark.parametrize("address", ["../docs/claims.md", "04_training_loop.ipynb", "images/picture.png"])
def test_a_link_to_a_file_of_the_course_becomes_its_text(address):
    assert markdown_html(f"see [row *3*]({address})").strip() == "<p>see row <em>3</em></p>"


@pytest.mark.parametrize("address", ["https://arxiv.org/abs/1910.02054", "#comment-accumulate", "mailto:ada@example.org"])
def test_a_link_that_leads_somewhere_from_a_page_stays(address):
    assert f'<a href="{address}">there</a>' in markdown_html(f"[there]({address})")


def test_a_page_is_dark_where_the_reader_asks_for_dark_pages(feedback, eve):
    feedback("--students", "eve")
    assert "@media screen and (prefers-color-scheme: dark)" in eve.read_text()


ANSWERS = "two model answers"


def test_a_page_has_no_model_answers_unless_the_configuration_asks_for_them(feedback, eve):
    feedback("--students", "eve")
    assert ANSWERS not in eve.read_text()


def test_model_answers_are_below_exercises_with_all_points_and_no_others(feedback, course, eve):
    config = course / "nbgrader_config.py"
    before = config.read_text()
    asked = before.replace("c.ShowModelAnswers.enabled = False", "c.ShowModelAnswers.enabled = True")
    assert asked != before
    config.write_text(asked)
    try:
        feedback("--students", "eve")
    finally:
        config.write_text(before)
    page = eve.read_text()
    assert page.count(ANSWERS) == 1
    assert page.index('name="sum_form_lr"') < page.index("return lr / accumulation_steps") < page.index('name="same_update"')
