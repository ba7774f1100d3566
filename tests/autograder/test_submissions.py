"""Files become a unit and code to run, or one line that says what is wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys

import nbformat
import pytest

from autograder.submissions import SubmissionError, read_submission
from autograder.units import UNITS

LOOP = "def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):\n    return []\n"


def sources(submission) -> list[str]:
    return [cell.source for cell in submission.cells]


def notebook_of(unit: str | None, *cells: dict) -> dict:
    metadata = {"gradaccum": {"unit": unit}} if unit else {}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def code(source, **metadata) -> dict:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def test_an_unusable_file_gets_one_line_that_names_it_and_says_what_is_wrong(unusable):
    path, words = unusable
    with pytest.raises(SubmissionError) as complaint:
        read_submission(path)
    said = str(complaint.value)
    assert words in said
    assert said.startswith(str(path.parent))
    assert said.splitlines() == [said]


def test_a_file_that_may_not_be_read_is_named_with_the_reason(write, monkeypatch):
    path = write("04_training_loop.py", LOOP)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    with pytest.raises(SubmissionError, match="cannot be read: Permission denied"):
        read_submission(path)


def test_a_notebook_is_of_the_unit_it_was_released_as_whatever_it_is_called_now(write):
    path = write("homework.ipynb", notebook_of("04_training_loop", code(LOOP)))
    assert read_submission(path).unit == "04_training_loop"


def test_a_notebook_without_its_metadata_is_of_the_unit_whose_exercises_it_holds(write):
    cells = code(LOOP, nbgrader={"grade_id": "train_epoch-solution"}), code("1", nbgrader={"grade_id": "start"})
    assert read_submission(write("homework.ipynb", notebook_of(None, *cells))).unit == "04_training_loop"


def test_a_notebook_with_exercises_of_two_units_is_of_neither(write):
    cells = [code("1", nbgrader={"grade_id": name}) for name in ("train_epoch", "accumulate_gradient")]
    with pytest.raises(SubmissionError, match="no unit of this course"):
        read_submission(write("homework.ipynb", notebook_of(None, *cells)))


@pytest.mark.parametrize(
    "name",
    [
        "04_training_loop.ipynb",
        "04_training_loop (1).ipynb",
        "04_training_loop-Copy1.ipynb",
        "Copy of 04_training_loop.ipynb",
        "doejane_12345_04_training_loop-2.ipynb",
        "04_TRAINING_LOOP.IPYNB",
        "04_training_loop.py",
        "04_training_loop (1).py",
        "04_training_loop_final.PY",
    ],
)
def test_a_renamed_file_is_still_of_its_unit(write, name):
    content = LOOP if name.lower().endswith(".py") else notebook_of(None, code(LOOP))
    submission = read_submission(write(name, content))
    assert (submission.unit, sources(submission)) == ("04_training_loop", [LOOP])


def test_every_unit_is_recognised_by_its_name(write):
    assert [read_submission(write(f"{unit}.py", LOOP)).unit for unit in UNITS] == list(UNITS)


def test_a_notebook_with_another_ending_is_a_notebook(write):
    path = write("04_training_loop.ipynb.txt", notebook_of(None, code(LOOP)))
    assert sources(read_submission(path)) == [LOOP]


def test_the_unit_in_the_metadata_wins_over_the_name(write):
    path = write("03_accumulate.ipynb", notebook_of("04_training_loop", code(LOOP)))
    assert read_submission(path).unit == "04_training_loop"


def test_a_unit_that_does_not_exist_does_not_count(write):
    path = write("03_accumulate.ipynb", notebook_of("99_nothing", code(LOOP)))
    assert read_submission(path).unit == "03_accumulate"


def test_line_ends_of_any_system_and_a_byte_order_mark_change_nothing(write):
    plain = read_submission(write("a/04_training_loop.py", LOOP))
    windows = read_submission(write("b/04_training_loop.py", b"\xef\xbb\xbf" + LOOP.replace("\n", "\r\n").encode()))
    old = read_submission(write("c/04_training_loop.py", LOOP.replace("\n", "\r")))
    assert sources(plain) == sources(windows) == sources(old)


def test_a_notebook_with_a_byte_order_mark_or_in_utf_16_is_read(write):
    text = json.dumps(notebook_of(None, code(LOOP)))
    for encoding in ("utf-8-sig", "utf-16"):
        assert sources(read_submission(write("04_training_loop.ipynb", text.encode(encoding)))) == [LOOP]


def test_windows_line_ends_inside_a_cell_change_nothing(write):
    path = write("04_training_loop.ipynb", notebook_of(None, code(LOOP.replace("\n", "\r\n").splitlines(True))))
    assert sources(read_submission(path)) == [LOOP]


def test_a_python_file_in_another_encoding_is_read(write):
    path = write("04_training_loop.py", "# -*- coding: latin-1 -*-\nname = 'Zoë'\n".encode("latin-1"))
    assert "Zoë" in sources(read_submission(path))[0]


@pytest.mark.parametrize("version", [2, 3])
def test_an_old_notebook_is_read(write, version):
    new = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LOOP), nbformat.v4.new_markdown_cell("# Hello")])
    old = nbformat.convert(nbformat.from_dict(new), 3)
    if version == 2:
        old["nbformat"], old["nbformat_minor"] = 2, 0
    path = write("04_training_loop.ipynb", json.dumps(old))
    assert [source.strip() for source in sources(read_submission(path))] == [LOOP.strip()]


def test_an_old_notebook_without_nbformat_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbformat", None)
    with pytest.raises(SubmissionError, match="install nbformat"):
        read_submission(write("04_training_loop.ipynb", {"nbformat": 3, "worksheets": [{"cells": []}]}))


def test_cells_that_mark_are_left_out_and_cells_students_write_in_are_not(write):
    graded = {"grade": True, "solution": False, "locked": True}
    by_hand = {"grade": True, "solution": True, "locked": False}
    locked = {"grade": False, "solution": False, "locked": True}
    cells = code("a", nbgrader=graded), code("b", nbgrader=by_hand), code("c", nbgrader=locked), code("d")
    assert sources(read_submission(write("04_training_loop.ipynb", notebook_of(None, *cells)))) == ["b", "c", "d"]


def test_cells_are_named_by_their_place_among_the_code_cells(write):
    prose = {"cell_type": "markdown", "metadata": {}, "source": "x"}
    path = write("04_training_loop.ipynb", notebook_of(None, prose, code("a"), code(""), prose, code("b")))
    assert [cell.name for cell in read_submission(path).cells] == ["code cell 1", "code cell 3"]


@pytest.mark.parametrize("damage", [None, 3, "text", {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}}])
def test_a_damaged_cell_costs_only_itself(write, damage):
    path = write("04_training_loop.ipynb", notebook_of(None, damage, code(LOOP)))
    assert sources(read_submission(path)) == [LOOP]


@pytest.mark.parametrize("metadata", [None, 3, [], {"gradaccum": 3}, {"gradaccum": {"unit": ["x"]}}])
def test_damaged_metadata_is_no_obstacle(write, metadata):
    notebook = notebook_of(None, code(LOOP, nbgrader=3)) | {"metadata": metadata}
    assert read_submission(write("04_training_loop.ipynb", notebook)).unit == "04_training_loop"


def test_reading_a_named_submission_imports_neither_torch_nor_notebook_libraries(write):
    path = write("04_training_loop.ipynb", notebook_of(None, code(LOOP)))
    program = f"import sys; from autograder.submissions import read_submission; read_submission({str(path)!r})"
    program += "; print({'torch', 'nbformat'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "set()"
