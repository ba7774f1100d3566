"""``course/`` is what ``make release`` makes of ``solutions/``, to the byte except for pictures, and gives nothing away."""

from __future__ import annotations

import ast
import base64
import io
import itertools
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from PIL import Image, ImageChops, ImageStat
from typer.testing import CliRunner
from warm_python import warm_python

from autograder.exercises import exercises_of
from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.release import COURSE, FOR_THE_MARKER, app, build, stale_files
from autograder.publishing.solution_script import ScriptError, source_notebook, unit_scripts
from autograder.publishing.stills import with_stills, without_stills
from autograder.reading.submissions import parse_submission

SCRIPTS = unit_scripts(SOLUTIONS)
EVERY_UNIT = pytest.mark.parametrize("unit", SCRIPTS)


@pytest.fixture(scope="module")
def released() -> dict[str, str]:
    return build(SCRIPTS)


@pytest.fixture(scope="module")
def notebooks(released) -> dict[str, nbformat.NotebookNode]:
    return {unit: nbformat.reads(text, as_version=4) for unit, text in released.items()}


def test_the_committed_notebooks_are_what_the_scripts_make_of_them_apart_from_pictures(released):
    committed = {unit: without_stills((COURSE / f"{unit}.ipynb").read_text(encoding="utf-8")) for unit in SCRIPTS}
    assert [unit for unit in SCRIPTS if committed[unit] != released[unit]] == [], "run make release"
    assert {path.stem for path in COURSE.glob("*.ipynb")} == set(SCRIPTS)


@pytest.mark.slow
@EVERY_UNIT
def test_the_committed_pictures_are_those_that_the_notebooks_show_today(released, unit):
    # Not to the byte: another processor may round differently, and another version of a library draws an edge differently.
    committed, due = (pictures_of(text) for text in ((COURSE / f"{unit}.ipynb").read_text(), with_stills(released[unit])))
    assert committed.keys() == due.keys(), "run make release"
    for caption, picture in committed.items():
        assert picture.size == due[caption].size
        difference = ImageStat.Stat(ImageChops.difference(picture, due[caption])).mean
        assert max(difference) < 2, f"run make release: {caption}"


def test_all_notebooks_with_their_pictures_are_small_enough_for_a_repository():
    assert sum(path.stat().st_size for path in COURSE.glob("*.ipynb")) < 2.5e6


@EVERY_UNIT
def test_pictures_have_alternative_texts_and_are_as_sharp_as_screens(unit):
    notebook = nbformat.read(COURSE / f"{unit}.ipynb", as_version=4)
    nbformat.validate(notebook)
    pictures = [output for output in outputs_of(notebook) if "image/png" in output.data]
    assert pictures
    for output in pictures:
        about = output.metadata["image/png"]
        assert about["alt"] == output.data["text/plain"]
        assert png(output).size == (2 * about["width"], 2 * about["height"])


@EVERY_UNIT
def test_pictures_change_nothing_of_what_the_marker_reads(unit):
    path = COURSE / f"{unit}.ipynb"
    with_pictures, without = (
        parse_submission(path, folder.joinpath(path.name).read_bytes()) for folder in (COURSE, FOR_THE_MARKER)
    )
    assert with_pictures == without


def outputs_of(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def png(output: nbformat.NotebookNode) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))).convert("RGB")


def pictures_of(text: str) -> dict[str, Image.Image]:
    """The pictures in a notebook by what they show, in words."""
    outputs = outputs_of(nbformat.reads(text, as_version=4))
    return {output.data["text/plain"]: png(output) for output in outputs if "image/png" in output.data}


def test_the_markers_copies_are_what_the_scripts_make_of_them(released):
    assert stale_files(released, FOR_THE_MARKER) == {}, "run make release"


REBUILT = ("04_training_loop", "12_capstone")
"""All units are built alike, and every one is compared with the committed notebooks."""


@pytest.mark.slow
def test_a_second_build_in_another_process_gives_the_same_bytes(released, tmp_path):
    (tmp_path / "solutions").mkdir()
    for unit in REBUILT:
        shutil.copy(SCRIPTS[unit], tmp_path / "solutions")
    places = ["--solutions", tmp_path / "solutions", "--course", tmp_path / "course"]
    command = [sys.executable, "-m", "autograder.publishing.release", *places]
    environment = os.environ | {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    built = {path.stem: path.read_bytes() for path in (tmp_path / "course").iterdir()}
    assert built == {unit: with_stills(released[unit]).encode() for unit in REBUILT}


@EVERY_UNIT
def test_a_released_notebook_is_valid_and_carries_no_traces_of_a_run(notebooks, unit):
    notebook = notebooks[unit]
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"gradaccum", "kernelspec", "language_info"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@EVERY_UNIT
def test_every_line_of_a_stub_stands_in_the_solution(notebooks, unit):
    solutions = {cell.id: cell.source.split("\n") for cell in source_notebook(SCRIPTS[unit]).cells}
    for stub in _stubs(notebooks[unit]):
        extra = [line for line in stub.source.split("\n") if line not in solutions[stub.id]]
        assert {line.strip() for line in extra} == {"raise NotImplementedError"}


@EVERY_UNIT
def test_every_stub_defines_its_function_and_raises_not_implemented_error(notebooks, unit):
    for exercise in exercises_of(unit):
        stub = next(cell for cell in _stubs(notebooks[unit]) if cell.id == f"{exercise.id}-solution")
        defined = next(n for n in ast.parse(stub.source).body if getattr(n, "name", "") == exercise.id)
        assert ast.get_docstring(defined), "students are told what to do"
        functions = [n for n in ast.walk(ast.parse(stub.source)) if isinstance(n, ast.FunctionDef)]
        assert functions
        assert all(isinstance(function.body[-1], ast.Raise) for function in functions)


@EVERY_UNIT
def test_no_line_that_only_a_solution_has_is_released(released, notebooks, unit):
    for stub in _stubs(notebooks[unit]):
        source = next(c.source for c in source_notebook(SCRIPTS[unit]).cells if c.id == stub.id)
        hidden = re.findall(r"### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION", source, re.DOTALL)
        assert hidden
        shown = "\n".join(cell.source for cell in notebooks[unit].cells)
        assert [region for region in hidden if region in shown] == []
    assert "SOLUTION" not in released[unit]


@EVERY_UNIT
def test_no_line_of_a_paragraph_begins_like_a_list(notebooks, unit):
    # Markdown would make a list of it. A number at the end of a sentence gets there when lines are wrapped again.
    for cell in notebooks[unit].cells:
        for above, line in itertools.pairwise(cell.source.splitlines() if cell.cell_type == "markdown" else []):
            in_paragraph = above.strip() and not re.match(r"\s+|([-*+]|\d+[.)]|[#|>])\s", above)
            assert not (in_paragraph and re.match(r"([-*+]|1[.)]) ", line)), line


@EVERY_UNIT
def test_links_between_units_lead_somewhere(notebooks, unit):
    for cell in notebooks[unit].cells:
        for target in re.findall(r"\]\(([^)#:]+\.ipynb)\)", cell.source):
            assert target.removesuffix(".ipynb") in SCRIPTS


RUN_AS_SCRIPTS = ("04_training_loop", "12_capstone")
"""Between them they call nearly all that shows something. The notebooks of all scripts run in JupyterLab, and the wheel's tests
run the first script."""


@pytest.mark.slow
@pytest.mark.parametrize("unit", RUN_AS_SCRIPTS)
def test_a_solution_script_runs_as_it_stands_and_passes_its_own_checks(unit, tmp_path):
    done = subprocess.run([*warm_python(), str(SCRIPTS[unit])], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for exercise in exercises_of(unit):
        assert f"{exercise.id}: {exercise.max_score:g} of {exercise.max_score:g} points, right" in done.stdout


def _stubs(notebook):
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]


class TestCommand:
    """``python -m autograder.publishing.release`` on a copy of one unit."""

    @pytest.fixture
    def release(self, tmp_path):
        (tmp_path / "solutions").mkdir()
        shutil.copy(SCRIPTS["03_accumulate"], tmp_path / "solutions")
        places = ["--solutions", str(tmp_path / "solutions"), "--course", str(tmp_path / "course")]
        return lambda *options: CliRunner().invoke(app, [*places, *options])

    def test_check_says_what_is_new_and_writes_nothing(self, release, tmp_path):
        result = release("--check")
        assert result.exit_code == 1
        assert "03_accumulate.ipynb: new" in result.output
        assert not (tmp_path / "course").exists()

    def test_check_succeeds_after_a_build(self, release):
        assert release().exit_code == 0
        assert release("--check").exit_code == 0

    def test_check_names_a_notebook_that_was_edited(self, release, tmp_path):
        release()
        with (tmp_path / "course" / "03_accumulate.ipynb").open("a") as notebook:
            notebook.write("\n")
        result = release("--check")
        assert result.exit_code == 1
        assert "03_accumulate.ipynb: differs" in result.output

    def test_check_names_a_notebook_whose_script_is_gone_but_not_a_students_copy(self, release, tmp_path):
        release()
        for name in ("02_old.ipynb", "03_accumulate-Copy1.ipynb"):
            shutil.copy(tmp_path / "course" / "03_accumulate.ipynb", tmp_path / "course" / name)
        result = release("--check")
        assert result.exit_code == 1
        assert "02_old.ipynb: has no solution script" in result.output
        assert "Copy1" not in result.output

    def test_a_script_that_cannot_be_released_leaves_the_course_as_it_was(self, release, tmp_path):
        release()
        before = (tmp_path / "course" / "03_accumulate.ipynb").read_bytes()
        with (tmp_path / "solutions" / "03_accumulate.py").open("a") as script:
            script.write('\n# %% check="nothing"\ncheck(nothing)\n')
        result = release()
        assert result.exit_code == 2
        assert "no such exercise" in result.stderr
        assert (tmp_path / "course" / "03_accumulate.ipynb").read_bytes() == before


def test_a_script_nbgrader_itself_refuses_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.publishing.solution_script._nbgrader", lambda grade_id, **roles: {"grade_id": ""})
    with pytest.raises(ScriptError, match="nbgrader could not release"):
        build({"03_accumulate": SCRIPTS["03_accumulate"]})
