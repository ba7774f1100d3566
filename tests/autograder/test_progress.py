"""The table of a student's own results."""

from __future__ import annotations

import json
import shutil

import pytest

from autograder.classroom import SOLUTIONS
from autograder.exercise import exercises_of
from autograder.progress import show_progress
from autograder.release import COURSE
from autograder.solution_script import source_notebook

UNIT = "03_accumulate"
POINTS = sum(exercise.max_score for exercise in exercises_of(UNIT))


@pytest.fixture
def solved(tmp_path):
    """A folder in which unit 03 is solved and nothing else is there."""
    folder = tmp_path / "solved"
    folder.mkdir()
    (folder / f"{UNIT}.ipynb").write_text(json.dumps(source_notebook(SOLUTIONS / f"{UNIT}.py")))
    return folder


def test_a_folder_without_notebooks_of_the_course_is_said_to_be_one(tmp_path):
    assert "no notebook of the course" in str(show_progress(tmp_path))


def test_the_start_page_does_not_mark_itself(tmp_path):
    shutil.copy(COURSE / "00_start_here.ipynb", tmp_path)
    assert show_progress(tmp_path).units == ()


@pytest.mark.slow
def test_a_solved_notebook_has_all_its_points_and_a_tick_for_each_exercise(solved):
    lines = str(show_progress(solved)).split("\n")
    assert lines[0].split() == [UNIT, f"{POINTS:g}", "of", f"{POINTS:g}", "points"]
    assert [line.split()[:2] for line in lines[1:-1]] == [[exercise.id, "✓"] for exercise in exercises_of(UNIT)]


@pytest.mark.slow
def test_an_untouched_notebook_has_no_points_and_is_not_called_wrong(tmp_path):
    shutil.copy(COURSE / f"{UNIT}.ipynb", tmp_path)
    said = str(show_progress(tmp_path))
    assert f"0 of {POINTS:g} points" in said
    assert said.count("○") == len(exercises_of(UNIT))
    assert "✗" not in said


@pytest.mark.slow
def test_in_a_class_the_notebooks_are_in_folders_beside_this_one(solved, tmp_path):
    solved.rename(tmp_path / UNIT)
    (tmp_path / "00_start_here").mkdir()
    (one,) = show_progress(tmp_path / "00_start_here").units
    assert one.unit == UNIT
    assert all(verdict.passed for verdict in one.verdicts)


@pytest.mark.slow
def test_a_notebook_that_cannot_be_read_is_named_and_costs_nothing_else(solved):
    (solved / "04_training_loop.ipynb").write_text('{"cells": [')
    said = str(show_progress(solved))
    assert "04_training_loop.ipynb: is not JSON" in said
    assert f"{POINTS:g} of {POINTS:g} points" in said


def test_the_table_says_what_the_lines_say(tmp_path):
    progress = show_progress(tmp_path)
    bundle = progress._repr_mimebundle_()
    assert bundle["text/plain"] == str(progress)
    assert bundle["text/html"].count("<tr>") == len(str(progress).split("\n"))
