"""Page and table of the class report: complete for any class, safe for any text, and examples do not reveal whose they are."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime
from html.parser import HTMLParser

import pytest
from sample_class import CLASS, EARLIER, TABLES, UNIT, dealt_class, exercise, marks, nothing
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.classroom.gradebook.cell_grades import CellGrade
from autograder.classroom.grading.marks_store import ExerciseMarks, MarksStore, MistakeMarks, PartMarks, StudentMarks
from autograder.classroom.report.class_data import ClassData
from autograder.classroom.report.class_report import ClassReport, class_report
from autograder.classroom.report.page import report_csv, report_html, write_report
from autograder.classroom.report.student_report import ABSENT, PARTLY, WAITING
from autograder.classroom.students import Student
from autograder.publishing.nbgrader_course import CONFIG, config_text
from gradaccum.diagnosis.catalogue import mistake

MADE = datetime(2026, 11, 21, 7, 45)


class Page(HTMLParser):
    """Roughly what a browser makes of a page: its tags and its text. Fails if a tag is not closed."""

    VOID = ("meta", "rect", "line", "br")

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7*7 }}"


@pytest.fixture(scope="module")
def hostile() -> ClassReport:
    """A class in which every text is hostile."""
    part, named = PartMarks(HOSTILE, HOSTILE, 0, 6, HOSTILE), MistakeMarks(HOSTILE, HOSTILE)
    bad = ExerciseMarks("train_epoch", (part,), (named,), HOSTILE, HOSTILE)
    cell = {UNIT: {"train_epoch": 6.0, HOSTILE: 1.0}}
    submission = StudentMarks(HOSTILE, UNIT, "key", "cpu", 1.0, (bad,), HOSTILE)
    return class_report(
        ClassData(HOSTILE, (Student(HOSTILE, HOSTILE, HOSTILE),), (submission,), cells=cell, warnings=(HOSTILE,))
    )


def test_hostile_text_is_escaped(hostile):
    page = Page(report_html(hostile, MADE))
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert HOSTILE in page.text


def test_errors_of_students_code_are_not_on_the_page():
    said = "NameError: name 'my_secret' is not defined"
    page = report_html(
        class_report(ClassData("c", marks=(marks("a", exercise("train_epoch", 0, failure="raised", said=said)),))), MADE
    )
    assert "my_secret" not in page


def articles(page: str) -> list[str]:
    return re.findall(r"<article>.*?</article>", page, re.DOTALL)


def test_an_example_of_a_mistake_has_a_sentence_and_fingerprints_but_no_students_name():
    data = ClassData(
        "c", (Student("zelda99", "Zelda", "Quux"),), (marks("zelda99", exercise("train_epoch", 0, "no-scale", tables=TABLES)),)
    )
    (article,) = articles(report_html(class_report(data), MADE))
    assert mistake("no-scale").message in article
    assert [one in article for one in (">Due<", ">1/4<", ">Found<", ">1<")] == [True] * 4
    assert not re.search("zelda|quux", article, re.IGNORECASE)
    assert "style=" not in article


@pytest.mark.parametrize(
    "text",
    ["Ada Berg", "<script>1</script>", '<td onclick="1">1</td>', '<td style="background:url(//x)">1</td>', "&lt;", "1 < 2"],
)
def test_an_example_with_anything_but_numbers_is_left_out(text):
    tables = (TABLES[0], TABLES[1].replace(">1</td>", f">{text}</td>"))
    data = ClassData("c", marks=(marks("a", exercise("train_epoch", 0, "no-scale", tables=tables)),))
    page = report_html(class_report(data), MADE)
    assert articles(page)
    assert 'class="fingerprint"' not in page


@pytest.mark.slow
def test_fingerprints_drawn_by_the_marker_are_shown(dealt):
    page = report_html(class_report(dealt), MADE)
    with_tables = [one for one in class_report(dealt).mistakes[:10] if one.example]
    assert with_tables
    assert page.count('class="fingerprint"') == len(with_tables)


@pytest.fixture(scope="module")
def dealt() -> ClassData:
    return dealt_class((UNIT,), 25, each=2)


def test_the_page_needs_no_network(dealt):
    page = report_html(class_report(dealt), MADE)
    assert not re.search(r"(src|href|action)\s*=|url\(|@import|https?:|fetch\(|//\w+\.", page)
    assert "default-src 'none'" in page


def test_without_its_script_the_page_is_complete(dealt):
    made = class_report(dealt)
    page = report_html(made, MADE).partition("<script>")[0]
    heat = page.partition('<section class="heat">')[2]
    assert heat.count('<tr><th scope="row">') == 25
    assert all(one.person.name in heat for one in made.students)
    assert not re.search(r"display: none|visibility", page)


@pytest.mark.parametrize("data", [ClassData("nobody"), ClassData("enrolled", CLASS.people)], ids=["nobody", "enrolled"])
def test_a_class_without_submissions_has_a_page(data):
    page = Page(report_html(class_report(data), MADE))
    assert "Nobody has handed anything in yet" in page.text
    assert "table" not in page.tags


@pytest.mark.parametrize("submission", [marks("a"), nothing("a", "raised"), nothing("a", "missing", "not JSON")])
def test_a_class_with_one_student_has_a_page(submission):
    page = report_html(class_report(ClassData("c", marks=(submission,))), MADE)
    Page(page)
    assert "<dt>student</dt><dd>1</dd>" in page


def test_points_given_by_hand_are_marked_with_a_star():
    grades = {("b", UNIT, "train_epoch"): CellGrade(5.0, by_hand=True)}
    page = report_html(class_report(ClassData("class", marks=CLASS.marks, grades=grades)), MADE)
    assert "5*<sub>" in page
    assert "given by hand" in page


def test_a_class_in_which_nothing_is_marked_yet_has_a_page():
    page = Page(report_html(class_report(ClassData("c", handed_in=frozenset({("a", UNIT), ("b", UNIT)}))), MADE))
    assert "submissions not marked yet" in page.text


def test_the_parts_of_a_heat_map_have_all_its_columns(dealt):
    from autograder.exercises import all_exercises

    units = sorted({one.unit for one in all_exercises().values()})
    made = class_report(ClassData("c", handed_in=frozenset(("a", unit) for unit in units)))
    heat = report_html(made, MADE).partition('<section class="heat">')[2]
    graded = [name for name, one in all_exercises().items() if one.graded]
    assert re.findall(r'data-sort="cell"><div>(\w+)</div>', heat) == graded
    assert heat.count("…</td>") == len(graded)


@pytest.fixture(scope="module")
def report() -> ClassReport:
    return class_report(CLASS)


# The table


def rows(report: ClassReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(report_csv(report))))


def test_the_table_has_a_row_for_each_student_and_exercise(report):
    table = rows(report)
    assert len(table) == 4 * 5
    assert table[8] == {
        "student": "b",
        "first_name": "Bo",
        "last_name": "Chen",
        "unit": UNIT,
        "exercise": "train_epoch",
        "score": "2",
        "max_score": "6",
        "passed": "False",
        "slugs": "no-scale",
        "state": PARTLY,
    }
    assert table[-1]["state"] == ABSENT
    assert sum(float(row["score"]) for row in table) == 18


def test_an_unmarked_submission_has_no_score_in_the_table():
    (row, *_) = rows(class_report(ClassData("c", handed_in=frozenset({("a", UNIT)}))))
    assert (row["score"], row["passed"], row["state"]) == ("", "", WAITING)


@pytest.mark.parametrize("start", ["=", "\n"])
def test_no_cell_of_the_table_is_a_formula(start):
    formula = f'{start}HYPERLINK("x")'
    data = ClassData(
        "c",
        (Student(formula, formula, formula),),
        (
            marks(
                formula,
            ),
        ),
        cells={UNIT: {formula: 1.0}},
    )
    for row in rows(class_report(data)):
        assert all(not value.startswith(start) for value in row.values())
        assert row["student"] == f"'{formula}"


# The command


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path):
    """A class with nothing but marks."""
    for one in CLASS.marks:
        MarksStore(tmp_path / "class").write(one, "{}")
    return tmp_path / "class"


def test_the_report_is_written_into_the_class_without_a_gradebook(run, folder):
    done = run(folder)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Class report: class" in (folder / "report.html").read_text()
    assert len((folder / "report.csv").read_text().splitlines()) == 1 + 3 * 5
    assert not (folder / "gradebook.db").exists()


def test_the_report_on_a_new_class_does_not_create_a_gradebook(run, tmp_path):
    (tmp_path / CONFIG).write_text(config_text(""))
    assert run(tmp_path).exit_code == 0
    assert "Nobody has handed anything in yet" in (tmp_path / "report.html").read_text()
    assert not (tmp_path / "gradebook.db").exists()


def test_the_report_can_be_written_to_another_file_or_folder(run, folder, tmp_path):
    run(folder, "--to", tmp_path / "week4.html")
    (tmp_path / "reports").mkdir()
    run(folder, "--to", tmp_path / "reports")
    assert {p.name for p in tmp_path.rglob("*.html")} | {p.name for p in tmp_path.rglob("*.csv")} == {
        *("week4.html", "week4.csv", "report.html", "report.csv")
    }
    assert not (folder / "report.html").exists()


def test_a_file_that_is_there_is_replaced_only_if_that_is_asked_for(run, folder):
    for name in ("report.html", "report.csv"):
        (folder / name).write_text("mine")
        refused(run(folder), str(folder / name), "replace with --overwrite, or name another file with --to")
        assert {path.name for path in folder.iterdir() if path.is_file()} == {name}
        assert (folder / name).read_text() == "mine"
        assert run(folder, "--overwrite").exit_code == 0
        assert (folder / name).read_text() != "mine"
        for path in folder.glob("report.*"):
            path.unlink()


@pytest.mark.parametrize("date", ["16.11.2026", "2026-02-30", "2026-11-16 12:00"])
def test_a_date_that_cannot_be_used_is_refused(run, folder, date):
    refused(run(folder, "--as-of", date), date, "write it like 2026-11-30")


@pytest.mark.parametrize("damage", ["", '{"format": 1', '{"format": 99}'])
def test_damaged_marks_are_named_and_the_rest_is_reported(run, folder, damage):
    MarksStore(folder).path("b", UNIT).write_text(damage)
    done = run(folder)
    assert done.exit_code == 0
    assert re.fullmatch(
        r"gradaccum classroom report: warning: .*04_training_loop\.json: .*; delete it and grade again\n", done.stderr
    )
    page = (folder / "report.html").read_text()
    assert f"b/{UNIT}.json" in page
    assert ">Bo" not in page
    assert len((folder / "report.csv").read_text().splitlines()) == 1 + 2 * 5


def test_a_name_that_is_not_valid_unicode_is_escaped(tmp_path):
    made = class_report(ClassData("c", marks=(marks("b\udcff"),)))
    for path in write_report(made, tmp_path / "report.html", MADE):
        assert "b\\udcff" in path.read_text()


@pytest.mark.parametrize("wanted", ["report.csv", "report.txt", "no-such-folder"])
def test_a_path_that_cannot_be_a_page_is_refused(run, folder, tmp_path, wanted):
    refused(run(folder, "--to", tmp_path / wanted), "end it in .html")


def test_a_directory_that_is_not_a_class_is_refused(run, tmp_path):
    refused(run(tmp_path / "nowhere"), "nowhere is no class")


def test_a_damaged_gradebook_is_refused_and_an_old_report_is_kept(run, tmp_path):
    (tmp_path / CONFIG).write_text(config_text(""))
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "gradebook.db").write_bytes(b"no database" * 100)
    refused(run(tmp_path, "--overwrite"), "gradebook.db", "file is not a database")
    assert (tmp_path / "report.html").read_text() == "old"


def refused(done, *words: str) -> None:
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("gradaccum classroom report: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words)


@pytest.mark.slow
def test_the_page_of_a_large_class_can_be_mailed():
    data = dealt_class((EARLIER, UNIT, "05_learning_rate"), 200, each=2)
    made = class_report(data)
    page = report_html(made, MADE)
    assert len(page.encode()) < 3_000_000
    assert page.count('<tr><th scope="row">', page.index('<section class="heat">')) == 200
    assert len(rows(made)) == 200 * 12
    lost = sum(r.lost for s in made.students for r in s.results if r.state not in (ABSENT, WAITING))
    assert sum(one.lost for one in made.revisits) + made.unjudged.lost == pytest.approx(lost)
    Page(page)


def test_what_being_late_cost_stands_beside_the_sum_and_the_legend_says_what_it_is():
    late = class_report(ClassData("c", CLASS.people, CLASS.marks, CLASS.handed_in, penalties={("b", UNIT): 2.5}))
    text = Page(report_html(late, MADE)).text
    assert "2.5 −2.5" in text
    assert "−2 beside a sum: taken off for being late" in text
    assert "being late" not in Page(report_html(class_report(CLASS), MADE)).text


def test_answers_of_which_there_was_nothing_to_judge_are_counted_below_the_sections_to_revisit():
    text = " ".join(Page(report_html(class_report(CLASS), MADE)).text.split())
    assert "Left out: 7 points lost where there was nothing to judge" in text
    assert "not written × 1 raises an error × 1" in text
