"""A student's own results: kept in one file, shown as a table, forgotten on request."""

from __future__ import annotations

import json

import pytest

from autograder.desk.check import check
from autograder.desk.progress import _panel, progress, show_progress
from autograder.desk.results import Result, forget, remember, results, results_file
from autograder.exercises import all_exercises, exercises_of
from autograder.marking.in_process import mark_function

UNIT = "03_accumulate"
FIRST, SECOND, THIRD = (exercise.id for exercise in exercises_of(UNIT))


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADACCUM_RESULTS", str(tmp_path / "somewhere" / "results.json"))
    return results_file()


def verdict(right: bool):
    return mark_function(all_exercises()["sum_form_lr"], (lambda lr, n: lr / n) if right else (lambda lr, n: lr * n))


def test_there_are_no_results_at_first():
    assert results() == {}


def test_the_best_verdict_is_remembered_and_tries_are_counted():
    for right in (False, True, False):
        remember(verdict(right))
    assert results() == {"sum_form_lr": Result(all_exercises()["sum_form_lr"].max_score, True, 3)}


def test_an_unwritten_function_does_not_count_as_a_try():
    def unwritten(lr, accumulation_steps):
        raise NotImplementedError

    remember(mark_function(all_exercises()["sum_form_lr"], unwritten))
    assert results() == {}


def test_results_of_a_graders_run_are_not_remembered(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    remember(verdict(True))
    assert results() == {}


def test_a_check_is_remembered_where_its_verdict_is_displayed(monkeypatch):
    def sum_form_lr(lr, accumulation_steps):
        return lr / accumulation_steps

    check(sum_form_lr)
    assert results() == {}
    monkeypatch.setattr("autograder.desk.check._caller_shows_values", lambda: True)
    check(sum_form_lr)
    assert results()["sum_form_lr"].passed


@pytest.mark.parametrize(
    "damaged",
    ["", "[1]", "{", "[" * 100_000, '{"sum_form_lr": 3}', '{"sum_form_lr": {"score": NaN, "passed": true, "tries": 1}}'],
    ids=["empty", "list", "cut", "deep", "number", "nan"],
)
def test_a_damaged_results_file_counts_as_empty_and_is_replaced(file, damaged):
    file.parent.mkdir()
    file.write_text(damaged)
    assert results() == {}
    remember(verdict(True))
    assert results()["sum_form_lr"].passed


def test_a_damaged_results_file_is_kept_under_another_name(file):
    file.parent.mkdir()
    file.write_text('{"precious": ')
    remember(verdict(True))
    assert file.with_name("results.json.damaged").read_text() == '{"precious": '


def test_results_of_unknown_exercises_are_ignored(file):
    file.parent.mkdir()
    file.write_text(json.dumps({"gone": {"score": 1, "passed": True, "tries": 1}}))
    assert results() == {}


def test_a_results_file_that_cannot_be_written_costs_no_verdict(file):
    file.parent.parent.joinpath("somewhere").write_text("a file where the folder should be")
    remember(verdict(True))
    assert results() == {}


def test_writing_results_leaves_no_other_files(file):
    remember(verdict(True))
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_forgetting_removes_everything():
    remember(verdict(True))
    forget()
    assert results() == {}
    forget()


def test_the_first_unit_that_is_not_done_is_next():
    units = [one.unit for one in progress({}).units]
    assert progress({}).next.unit == units[0] == "01_batches_and_gradients"
    everything = {name: Result(exercise.max_score, True, 1) for name, exercise in all_exercises().items()}
    assert progress(everything).next is None
    del everything[SECOND]
    assert progress(everything).advice() == f"Next: {progress(everything).next.title}: {SECOND}."


def test_the_table_has_the_points_and_a_mark_for_each_exercise():
    known = {FIRST: Result(all_exercises()[FIRST].max_score, True, 1), SECOND: Result(0.5, False, 2)}
    html, text = progress(known).as_html(), str(progress(known))
    assert f"{all_exercises()[FIRST].max_score + 0.5:g} / 10" in html
    lines = {line.split()[0]: line.split()[1] for line in text.split("\n") if line.startswith("  ")}
    assert (lines[FIRST], lines[SECOND], lines[THIRD]) == ("✓", "✗", "○")


def test_practice_exercises_do_not_count_in_progress():
    practice = exercises_of("00_start_here")[0].id
    assert "00_start_here" not in [one.unit for one in progress({practice: Result(1, True, 1)}).units]


def test_the_reset_button_asks_before_it_forgets():
    remember(verdict(True))
    table, reset, asking, said = _panel(show_progress()).children
    reset.click()
    assert asking.layout.display == "flex"
    asking.children[1].click()
    assert (asking.layout.display, results().keys()) == ("none", {"sum_form_lr"})
    reset.click()
    asking.children[0].click()
    assert results() == {}
    assert "Forgotten" in said.value
    assert table.value == progress({}).as_html()
