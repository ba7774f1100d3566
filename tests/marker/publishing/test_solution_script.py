"""Solution scripts become source notebooks; what does not follow the notation is refused with a line that says why."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.exercises import all_exercises, exercises_of
from autograder.publishing.solution_script import ScriptError, source_notebook, stub_of, unit_scripts

UNIT = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Some other kernel
#     language: python
#     name: other
# ---

# %% [markdown]
# # Start here

# %%
from autograder.check import check

# %% [markdown]
# ## Try *it*, twice!

# %% free=true tags=["hide-output"]
print("change me")

# %% exercise="average_gradients"
def average_gradients(gradients):
    \"\"\"The mean.\"\"\"
    ### BEGIN SOLUTION
    return sum(gradients) / len(gradients)
    ### END SOLUTION


# %% check="average_gradients"
check(average_gradients)
"""


@pytest.fixture
def notebook_of(tmp_path):
    """The source notebook of a script of unit 00 with a change made to its text."""

    def make(old: str = "", new: str = ""):
        assert old in UNIT
        script = tmp_path / "00_start_here.py"
        script.write_text(UNIT.replace(old, new) if old else UNIT, encoding="utf-8")
        return source_notebook(script)

    return make


@pytest.fixture
def cell(notebook_of):
    return {cell.id: cell for cell in notebook_of().cells}


def test_cells_are_named_after_headings_and_exercises(notebook_of):
    assert [cell.id for cell in notebook_of().cells] == [
        "start-here",
        "start-here-2",
        "try-it-twice",
        "try-it-twice-2",
        "average_gradients-solution",
        "average_gradients",
    ]


def test_a_source_notebook_is_a_valid_notebook_that_knows_its_unit(notebook_of):
    notebook = notebook_of()
    nbformat.validate(notebook)
    assert notebook.metadata.gradaccum.unit == "00_start_here"
    assert notebook.metadata.kernelspec.name == "python3"


def test_ordinary_code_is_locked(cell):
    assert cell["start-here-2"].metadata.nbgrader.locked


def test_free_code_and_prose_are_not_locked(cell):
    assert cell["try-it-twice-2"].metadata == {"tags": ["hide-output"]}
    assert cell["try-it-twice"].metadata == {}


def test_the_code_of_a_question_is_folded_away_and_locked(notebook_of):
    question = notebook_of("from autograder.check import check", "predict('?', choices=('a', 'b'), answer='a')").cells[1]
    assert question.metadata.jupyter.source_hidden
    assert question.metadata.nbgrader.locked


def test_an_exercise_cell_is_a_solution_and_not_graded_itself(cell):
    roles = cell["average_gradients-solution"].metadata.nbgrader
    assert (roles.solution, roles.grade, roles.locked) == (True, False, False)


def test_the_check_of_a_practice_exercise_is_locked_but_gives_no_points(cell):
    roles = cell["average_gradients"].metadata.nbgrader
    assert (roles.locked, roles.grade, "points" in roles) == (True, False, False)


@pytest.mark.parametrize("unit", ["03_accumulate", "04_training_loop"])
def test_points_of_a_graded_unit_are_those_of_its_exercises(unit):
    script = Path(__file__).parents[3] / "solutions" / f"{unit}.py"
    graded = {c.id: c.metadata.nbgrader.points for c in source_notebook(script).cells if "points" in _roles(c)}
    assert graded == {exercise.id: exercise.max_score for exercise in exercises_of(unit)}


def _roles(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


WRONG = {
    "a word misspelt": ('%% exercise="', '%% excercise="', "unknown word 'excercise'"),
    "an exercise nobody knows": ('exercise="average_gradients"', 'exercise="mean_gradients"', "no such exercise"),
    "an exercise of another unit": ('exercise="average_gradients"', 'exercise="train_epoch"', "belongs to unit 04"),
    "an exercise left out": ('%% exercise="average_gradients"', "%%", "no cell has exercise='average_gradients'"),
    "a check left out": ('%% check="average_gradients"', "%%", "no cell has check='average_gradients'"),
    "a check that does more": ("\ncheck(average", "\nprint(1)\ncheck(average", "holds check(average_gradients) and nothing"),
    "a check of something else": ("\ncheck(average_gradients)", "\ncheck(len)", "holds check(average_gradients) and nothing"),
    "a check in two cells": ("%% free=true", '%% check="average_gradients"', "stands in several cells"),
    "free and exercise": ('%% exercise="', '%% free=true exercise="', "cannot stand together"),
    "an exercise on prose": ("%% [markdown]\n# ## Try", "%% [markdown] free=true\n# ## Try", "not code"),
    "no end marker": ("    ### END SOLUTION\n", "", "without its partner"),
    "no begin marker": ("    ### BEGIN SOLUTION\n", "", "without its partner"),
    "no markers": ("    ### BEGIN SOLUTION\n    return sum(gradients) / len(gradients)\n    ### END SOLUTION\n", "", "needs"),
    "a marker misspelt": ("### BEGIN SOLUTION", "# BEGIN SOLUTION", "on a line of its own"),
    "markers in a locked cell": ("from autograder", "### BEGIN SOLUTION\nfrom autograder", "without exercise="),
    "markers in prose": ("# # Start here", "# Write it between BEGIN SOLUTION and", "without exercise="),
    "a stub cut in half": ('    """The mean."""\n', "    if gradients\n", "not valid Python"),
    "locked code that is no Python": ("from autograder", "from from autograder", "not valid Python"),
}


@pytest.mark.parametrize(("old", "new", "reason"), WRONG.values(), ids=WRONG.keys())
def test_a_script_is_refused_with_file_and_reason(notebook_of, old, new, reason):
    with pytest.raises(ScriptError, match=r"00_start_here\.py: ") as error:
        notebook_of(old, new)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_an_exercise_in_two_cells_is_refused(notebook_of):
    again = '\n# %% exercise="average_gradients"\ndef average_gradients(gradients):\n    pass\n'
    with pytest.raises(ScriptError, match="stands in several cells"):
        notebook_of("check(average_gradients)\n", "check(average_gradients)\n" + again)


def test_a_check_before_its_exercise_is_refused(notebook_of):
    check = '# %% check="average_gradients"\ncheck(average_gradients)\n'
    exercise = UNIT[UNIT.index("# %% exercise") : UNIT.index(check)]
    with pytest.raises(ScriptError, match="stands before its exercise"):
        notebook_of(exercise + check, check + exercise)


def test_a_heading_named_like_an_exercise_does_not_take_its_id(notebook_of):
    ids = [cell.id for cell in notebook_of("# # Start here", "# # same\n").cells]
    assert len(set(ids)) == len(ids)
    assert "average_gradients" in ids


def test_a_stub_keeps_the_code_around_the_solution():
    source = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n\n\nN = 4"
    assert stub_of(source) == "def f(x):\n    raise NotImplementedError\n\n\nN = 4"


def test_a_cell_may_have_several_solution_regions():
    region = "    ### BEGIN SOLUTION\n    a\n    ### END SOLUTION\n"
    assert stub_of(f"def f():\n{region}def g():\n{region}").count("raise NotImplementedError") == 2


def test_a_directory_without_scripts_is_refused(tmp_path):
    (tmp_path / "notes.py").touch()
    with pytest.raises(ScriptError, match="no solution scripts"):
        unit_scripts(tmp_path)


def test_practice_exercises_are_those_of_the_start_page():
    assert [e.id for e in all_exercises().values() if not e.graded] == ["average_gradients"]
