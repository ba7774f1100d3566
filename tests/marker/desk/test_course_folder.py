"""``gradaccum course`` lays notebooks out and leaves the work of students alone; ``gradaccum lab`` opens a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.contract.units import UNITS
from autograder.desk import course_folder
from autograder.desk.course_folder import lay_out
from autograder.support import extras
from gradaccum import __version__

RELEASED = Path(__file__).parents[3] / "autograder" / "released"
UNIT = "03_accumulate"


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Runs ``gradaccum`` in an empty folder; its exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([*arguments])
        return end.value.code or 0, *capsys.readouterr()

    return run


def edit(notebook: Path, cell_id: str, source: str) -> bytes:
    """Change a cell as a student does, with the layout that Jupyter gives a file; what the file is then."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in content["cells"] if cell["id"] == cell_id)
    cell["source"] = source
    notebook.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return notebook.read_bytes()


def prose_of(notebook: Path) -> str:
    """The id of a cell with text."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return next(cell["id"] for cell in cells if cell["cell_type"] == "markdown")


def test_the_notebooks_laid_out_are_the_released_ones(command, tmp_path):
    assert command("course")[0] == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "course").iterdir()}
    assert made == {f"{unit}.ipynb": (RELEASED / f"{unit}.ipynb").read_bytes() for unit in UNITS}


def test_units_can_be_picked(command, tmp_path):
    status, said, _ = command("course", "mine", "--units", "03,04")
    assert status == 0
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["03_accumulate.ipynb", "04_training_loop.ipynb"]
    assert said.splitlines() == [
        "mine/03_accumulate.ipynb: new",
        "mine/04_training_loop.ipynb: new",
        "mine: open it with gradaccum lab mine, or with any other Jupyter",
    ]


def test_an_unknown_unit_is_refused_and_nothing_is_written(command, tmp_path):
    status, said, complaint = command("course", "mine", "--units", "99")
    assert (status, said) == (2, "")
    assert complaint.startswith("gradaccum course: no unit is called '99'; there are 00_start_here,")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(command, tmp_path):
    (tmp_path / "mine").write_text("thesis")
    status, said, complaint = command("course", "mine")
    assert (status, said) == (2, "")
    assert complaint.startswith("gradaccum course: mine")
    assert (tmp_path / "mine").read_text() == "thesis"


def test_notebooks_as_released_are_not_mentioned(tmp_path):
    lay_out(tmp_path, [UNIT])
    assert lay_out(tmp_path, [UNIT]) == ([], [])


def test_notebooks_of_a_clone_whose_pictures_are_there_already_are_not_mentioned(tmp_path):
    shutil.copy(RELEASED.parents[1] / "course" / f"{UNIT}.ipynb", tmp_path)
    assert lay_out(tmp_path, [UNIT]) == ([], [])


def test_an_answer_to_an_exercise_stays(tmp_path):
    lay_out(tmp_path, [UNIT])
    notebook = tmp_path / f"{UNIT}.ipynb"
    work = edit(notebook, "accumulate_gradient-solution", "def accumulate_gradient(): ...")
    assert lay_out(tmp_path, [UNIT]) == ([], [f"{notebook} stays as you left it"])
    assert notebook.read_bytes() == work
    assert list(tmp_path.iterdir()) == [notebook]


def test_the_notebook_of_a_newer_release_goes_beside_work_on_an_older_one(tmp_path):
    lay_out(tmp_path, [UNIT])
    notebook, newer = tmp_path / f"{UNIT}.ipynb", tmp_path / f"{UNIT}-{__version__}.ipynb"
    work = edit(notebook, prose_of(notebook), "# As it was said last year")
    written, (remark,) = lay_out(tmp_path, [UNIT])
    assert (written, notebook.read_bytes()) == ([newer], work)
    assert remark.endswith(f"the notebook of this release is {newer}")
    assert newer.read_bytes() == (RELEASED / f"{UNIT}.ipynb").read_bytes()


def test_work_in_the_notebook_that_went_beside_stays_too(tmp_path):
    lay_out(tmp_path, [UNIT])
    notebook, newer = tmp_path / f"{UNIT}.ipynb", tmp_path / f"{UNIT}-{__version__}.ipynb"
    edit(notebook, prose_of(notebook), "# As it was said last year")
    lay_out(tmp_path, [UNIT])
    work = edit(newer, "accumulate_gradient-solution", "def accumulate_gradient(): ...")
    assert lay_out(tmp_path, [UNIT]) == ([], [f"{notebook} stays as you left it, and so does {newer}"])
    assert newer.read_bytes() == work


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b'{"cells": [1]}', b'{"cells": [{"source": 1}]}'])
def test_a_file_that_is_no_notebook_stays_and_the_notebook_goes_beside(tmp_path, content):
    notebook = tmp_path / f"{UNIT}.ipynb"
    notebook.write_bytes(content)
    written, _ = lay_out(tmp_path, [UNIT])
    assert written == [tmp_path / f"{UNIT}-{__version__}.ipynb"]
    assert notebook.read_bytes() == content


def test_a_link_that_leads_nowhere_is_not_replaced(tmp_path):
    (tmp_path / f"{UNIT}.ipynb").symlink_to(tmp_path / "gone")
    with pytest.raises(FileNotFoundError):
        lay_out(tmp_path, [UNIT])
    assert (tmp_path / f"{UNIT}.ipynb").is_symlink()


def test_a_kill_while_a_notebook_is_written_leaves_no_part_of_it(tmp_path, monkeypatch):
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        lay_out(tmp_path, [UNIT])
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def opened(monkeypatch) -> list[tuple[str, ...]]:
    """The folders and options that JupyterLab was to be started with."""
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(course_folder, "open_lab", lambda folder, options: started.append((str(folder), *options)))
    return started


def test_lab_lays_out_the_course_in_a_new_folder_and_opens_it(command, opened, tmp_path):
    assert command("lab")[0] == 0
    assert opened == [("course",)]
    assert len(list((tmp_path / "course").iterdir())) == len(UNITS)


def test_lab_adds_nothing_to_a_folder_that_holds_something(command, opened, tmp_path):
    command("course", "mine", "--units", "03")
    assert command("lab", "mine", "--no-browser")[0] == 0
    assert opened == [("mine", "--no-browser")]
    assert [path.name for path in (tmp_path / "mine").iterdir()] == [f"{UNIT}.ipynb"]


def test_lab_takes_options_of_jupyter_lab_without_a_folder(command, opened):
    assert command("lab", "--no-browser", "--port=9999")[0] == 0
    assert opened == [("course", "--no-browser", "--port=9999")]


@pytest.mark.slow
def test_lab_becomes_jupyter_lab(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    code = "from autograder.cli import main; main()"
    command = [sys.executable, "-c", code, "lab", "mine", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"HOME": str(tmp_path)})
    import jupyterlab

    assert (done.returncode, done.stdout.strip()) == (0, jupyterlab.__version__), done.stderr


@pytest.mark.parametrize(
    ("arguments", "missing", "extra"),
    [
        (["lab"], "jupyterlab", "lab"),
        (["classroom", "init", "x"], "nbgrader", "classroom"),
        (["classroom"], "jupyterlab", "classroom"),
    ],
)
def test_a_command_whose_extra_is_missing_says_what_to_install(command, monkeypatch, tmp_path, arguments, missing, extra):
    def version(name: str) -> str:
        if name == missing:
            raise extras.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(extras, "version", version)
    status, said, complaint = command(*arguments)
    assert (status, said) == (2, "")
    assert complaint == f"gradaccum {arguments[0]}: this needs {missing}; install with pip install 'gradaccum[{extra}]'\n"
    assert list(tmp_path.iterdir()) == []
