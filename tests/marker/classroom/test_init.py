"""``gradaccum classroom init`` makes a course directory or completes one, and damages nothing."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.publishing.nbgrader_course import SOLUTIONS, course_directory, make_course, pick_units
from autograder.publishing.solution_script import ScriptError, unit_scripts
from autograder.support.atomic_files import write_atomically

SCRIPTS = unit_scripts(SOLUTIONS)
SOURCE = Path("source/03_accumulate/03_accumulate.ipynb")


@pytest.fixture
def init(tmp_path):
    """Runs ``init`` for a directory with this name."""
    return lambda name, *options: CliRunner().invoke(app, ["init", str(tmp_path / name), *options])


def test_a_new_class_has_a_configuration_and_the_source_notebooks_of_all_units(init, tmp_path):
    assert init("new/class").exit_code == 0
    made = {str(path.relative_to(tmp_path / "new/class")) for path in (tmp_path / "new/class").rglob("*") if path.is_file()}
    assert made == {"nbgrader_config.py"} | {f"source/{unit}/{unit}.ipynb" for unit in SCRIPTS}


def test_source_notebooks_hold_the_solutions(init, tmp_path):
    init("class", "--units", "03")
    notebook = nbformat.read(tmp_path / "class" / SOURCE, as_version=4)
    assert any("### BEGIN SOLUTION" in cell.source for cell in notebook.cells)


def test_an_existing_empty_directory_is_used(init, tmp_path):
    (tmp_path / "class").mkdir()
    assert init("class", "--units", "03").exit_code == 0


@pytest.mark.parametrize("wanted", ["03", "03_accumulate", " 03 ,", "03,03_accumulate"])
def test_units_can_be_named_by_number_or_name(wanted):
    assert list(pick_units(SCRIPTS, [wanted])) == ["03_accumulate"]


def test_an_option_may_be_given_once_for_each_unit(init, tmp_path):
    assert init("class", "--units", "04", "--units", "03").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "class" / "source").iterdir()) == ["03_accumulate", "04_training_loop"]


def test_units_keep_the_order_of_the_course():
    assert list(pick_units(SCRIPTS, ["04,03"])) == ["03_accumulate", "04_training_loop"]


def test_completing_a_class_keeps_the_instructors_changes(init, tmp_path):
    init("class", "--units", "03")
    for name in (SOURCE, "nbgrader_config.py"):
        with (tmp_path / "class" / name).open("a") as file:
            file.write("\n# mine\n")
    result = init("class", "--units", "03,04")
    assert result.exit_code == 0
    assert "left as they were: 03_accumulate" in result.output
    assert (tmp_path / "class/source/04_training_loop/04_training_loop.ipynb").exists()
    for name in (SOURCE, "nbgrader_config.py"):
        assert (tmp_path / "class" / name).read_text().endswith("# mine\n")


def _refused(result, *words):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


def test_a_directory_with_something_else_in_it_is_refused_and_left_alone(init, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/thesis.tex").touch()
    _refused(init("thesis"), "thesis is not empty", "name a new directory")
    assert os.listdir(tmp_path / "thesis") == ["thesis.tex"]


def test_a_file_is_refused(init, tmp_path):
    (tmp_path / "class").touch()
    _refused(init("class"), "is a file")


def test_a_path_below_a_file_is_refused(init, tmp_path):
    (tmp_path / "file").touch()
    _refused(init("file/class"), "file")


def test_an_unknown_unit_is_refused_before_anything_is_made(init, tmp_path):
    _refused(init("class", "--units", "03,99"), "no unit is called '99'", "04_training_loop")
    assert not (tmp_path / "class").exists()


def test_a_broken_script_is_refused_before_anything_is_made(tmp_path):
    (tmp_path / "03_accumulate.py").write_text("# %%\nprint(1)\n")
    with pytest.raises(ScriptError):
        make_course(tmp_path / "class", {"04_training_loop": SCRIPTS["04_training_loop"]} | unit_scripts(tmp_path))
    assert not (tmp_path / "class").exists()


def test_the_time_limit_of_a_notebook_is_longer_than_those_of_its_trials_together():
    from autograder.contract.observation import TRIAL_SECONDS
    from autograder.exercises import all_exercises
    from autograder.isolation.limits import Limits

    longest = max(len(exercise.trials(0, "cpu")) for exercise in all_exercises().values()) * TRIAL_SECONDS
    assert Limits().whole > longest


def test_nbgrader_writes_the_same_stub_that_solution_scripts_are_checked_with(init, tmp_path):
    from autograder.publishing.solution_script import STUB

    init("class", "--units", "03")
    assert course_directory(tmp_path / "class").config.ClearSolutions.code_stub == {"python": STUB}


def test_students_of_a_roster_are_in_the_gradebook(init, tmp_path):
    (tmp_path / "roster.csv").write_text("id,first_name,last_name,email\nada,Ada,Lovelace,ada@example.org\nbob,,,\n")
    result = init("class", "--units", "03", "--roster", str(tmp_path / "roster.csv"))
    assert result.exit_code == 0, result.output
    with sqlite3.connect(tmp_path / "class/gradebook.db") as gradebook:
        rows = gradebook.execute("select id, first_name, last_name, email from student order by id").fetchall()
    assert rows == [("ada", "Ada", "Lovelace", "ada@example.org"), ("bob", "", "", "")]


def test_a_longer_roster_says_who_is_new_and_what_there_is_still_to_do(init, tmp_path):
    roster = tmp_path / "canvas.csv"
    header = "Student,ID,SIS Login ID,Section\n"
    roster.write_text(f'{header}"Lovelace, Ada",1,ada,A\n"Noyce, Bob",2,bob,A\n')
    result = init("class", "--units", "03,04", "--roster", str(roster))
    assert "04_training_loop and 2 students\n" in result.stdout
    (tmp_path / "class/release/03_accumulate").mkdir(parents=True)
    roster.write_text(f'{header}"Lovelace, Ada",1,ada,A\n"Noyce, Rob",2,bob,A\n"Adams, Eve",3,eve,A\n"Student, Test",4,xyz,A\n')
    result = init("class", "--units", "03,04", "--roster", str(roster))
    assert result.stdout.splitlines()[2:] == [
        f"students of {roster}: 1 new (eve), 1 updated, 1 unchanged",
        f"next: gradaccum classroom release {tmp_path}/class --units 04",
    ]
    assert "line 5: 'Student, Test' is Canvas's test student, and is left out" in result.stderr
    hint = f"next, once something is handed in: gradaccum classroom grade {tmp_path}/class --from PATH"
    assert init("class", "--units", "03").stdout.splitlines()[-1] == hint


def test_a_class_that_is_there_keeps_its_units_and_names_them_all(init, tmp_path):
    (tmp_path / "students.csv").write_text("id\nada\n")
    init("class", "--units", "04")
    result = init("class", "--roster", str(tmp_path / "students.csv"))
    assert result.stdout.splitlines() == [
        f"{tmp_path}/class: a class with 04_training_loop and 1 student",
        f"next: gradaccum classroom release {tmp_path}/class --units 04",
    ]
    assert init("class", "--units", "03").stdout.startswith(f"{tmp_path}/class: a class with 03_accumulate, 04_training_loop\n")
    assert sorted(os.listdir(tmp_path / "class/source")) == ["03_accumulate", "04_training_loop"]


def test_a_roster_with_bad_rows_is_refused_before_anything_is_made(init, tmp_path):
    (tmp_path / "roster.csv").write_text("id\nada\n../bob\n")
    _refused(init("class", "--roster", str(tmp_path / "roster.csv")), "roster.csv, line 3", "../bob")
    assert not (tmp_path / "class").exists()


def test_a_database_whose_driver_is_missing_is_named_with_what_to_install(init, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymysql", None)  # as if it were not installed
    (tmp_path / "roster.csv").write_text("id\nada\n")
    database = "mysql+pymysql://host/gradebook"
    result = init("class", "--units", "03", "--roster", str(tmp_path / "roster.csv"), "--db", database)
    _refused(result, "pip install pymysql", "c.CourseDirectory.db_url")
    assert init("class", "--units", "03", "--db", database).exit_code == 0  # without students nothing is asked of it yet
    submitted = tmp_path / "class/submitted/ada/03_accumulate"
    submitted.mkdir(parents=True)
    (submitted / "03_accumulate.ipynb").write_text("{}")
    _refused(CliRunner().invoke(app, ["grade", str(tmp_path / "class")]), "pip install pymysql", "cannot be read")


def test_a_missing_roster_is_refused(init, tmp_path):
    _refused(init("class", "--roster", str(tmp_path / "roster.csv")), "roster.csv")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "notebook.ipynb"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["notebook.ipynb"]


@pytest.mark.parametrize("was_there", [True, False])
def test_an_init_that_fails_leaves_no_half_of_a_class(init, tmp_path, was_there):
    if was_there:
        (tmp_path / "class").mkdir()
    (tmp_path / "roster.csv").write_text("id\nada\n")
    result = init("class", "--units", "03", "--roster", str(tmp_path / "roster.csv"), "--db", "sqlite:////nowhere/gradebook.db")
    assert result.exit_code == 2
    assert (tmp_path / "class").exists() is was_there
    assert list(tmp_path.glob("class/*")) == []
