"""The released notebook with what a student wrote: nothing of theirs is lost, and nothing of ours can be changed."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from damages import solved

from autograder.reading.rebuilding import unreadable
from autograder.reading.submissions import SubmissionError, parse_submission
from autograder.released import released_content, released_notebook

UNIT = "04_training_loop"
PIXEL = "iVBORw0KGgo="


def code(source: str, grade_id: str = "", **more) -> dict:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [{"x": 1}], "execution_count": 7} | more


def markdown(source: str, grade_id: str = "", **more) -> dict:
    return code(source, grade_id) | {"cell_type": "markdown"} | more


def cell_of(template: dict, grade_id: str) -> dict:
    return next(cell for cell in template["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def rebuilt(*cells: dict, template: dict | None = None) -> nbformat.NotebookNode:
    data = json.dumps({"cells": cells}).encode()
    notebook = parse_submission(Path("homework.ipynb"), data, UNIT, template).notebook
    nbformat.validate(notebook, relax_add_props=False)
    return notebook


def sources(notebook) -> dict[str, str]:
    return {cell.id: cell.source for cell in notebook.cells}


def extras(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.id.startswith("student-")]


def released_cells() -> list[dict]:
    return solved(UNIT)["cells"]


class TestReleasedCells:
    def test_cells_and_their_order_ids_and_metadata_are_those_of_the_release(self):
        template = released_notebook(UNIT)
        notebook = rebuilt(code("x = 1"), *reversed(released_cells()), code("y = 2"))
        ours = [(cell.id, cell.cell_type, cell.metadata) for cell in notebook.cells if not cell.id.startswith("student-")]
        assert ours == [(cell.id, cell.cell_type, cell.metadata) for cell in template.cells]
        assert notebook.metadata == template.metadata

    def test_given_cells_and_checks_are_as_released_whatever_was_handed_in(self):
        forged = [dict(cell, source="raise SystemExit") for cell in released_cells()]
        notebook, released = sources(rebuilt(*forged)), sources(released_notebook(UNIT))
        for cell in released_notebook(UNIT).cells:
            if cell.metadata.get("nbgrader", {}).get("locked") or cell.cell_type == "markdown":
                assert notebook[cell.id] == "".join(released[cell.id])

    def test_outputs_of_students_are_not_kept(self):
        cells = [cell for cell in rebuilt(code("x = 1")).cells if cell.cell_type == "code"]
        assert all((cell.outputs, cell.execution_count) == ([], None) for cell in cells)

    def test_a_students_metadata_cannot_make_a_cell_graded(self):
        forged = {"grade": True, "points": 100, "solution": False, "locked": True, "grade_id": "mine", "schema_version": 3}
        notebook = rebuilt(code("x = 1") | {"metadata": {"nbgrader": forged, "tags": ["x"]}})
        assert [cell.metadata for cell in notebook.cells if cell.id.startswith("student-")] == [{}]

    def test_an_untouched_release_is_rebuilt_unchanged(self):
        again = nbformat.writes(rebuilt(*released_content(UNIT)["cells"]))
        assert json.loads(again) == released_content(UNIT)

    def test_the_same_file_gives_the_same_notebook(self):
        cells = [code("x = 1"), *released_cells()[::2], markdown("hello")]
        assert rebuilt(*cells) == rebuilt(*cells)

    def test_rebuilding_a_rebuilt_notebook_changes_nothing(self):
        once = rebuilt(code("x = 1"), markdown("hello"), *released_cells(), code("def train_epoch(*a): return a"))
        assert rebuilt(*once.cells) == once


class TestStudentsCells:
    def test_a_function_is_found_wherever_it_stands(self):
        answer = "def train_epoch(*args):\n    return args"
        for cell in (code(answer), code(answer, "repaired_lost_tail-solution"), markdown(answer), code(answer, "no such id")):
            notebook = rebuilt(*released_content(UNIT)["cells"], cell)
            assert sources(notebook)["train_epoch-solution"] == answer
            assert extras(notebook) == []

    @pytest.mark.parametrize(
        "definition",
        [
            "train_epoch = lambda *args: args",
            "from helper import train_epoch",
            "if True:\n    def train_epoch(*args):\n        return args",
            "try:\n    import apex\nexcept ImportError:\n    def train_epoch(*args):\n        return args",
            "def train_epoch(:\n    pass",
            "async def train_epoch(): return 1",
            "import functools\n@functools.cache\ndef train_epoch(x): return x",
            "%time\ntrain_epoch = other = print",
        ],
    )
    def test_everything_that_defines_a_function_counts(self, definition):
        assert sources(rebuilt(code(definition)))["train_epoch-solution"] == definition

    @pytest.mark.parametrize("mention", ["print(train_epoch)", "x = [train_epoch for train_epoch in ()]", "train_epoch == 3"])
    def test_mentioning_a_function_is_not_defining_it(self, mention):
        assert extras(rebuilt(code(mention))) == [mention]

    def test_the_last_version_of_a_function_counts_and_older_versions_stand_before_it(self):
        old, new = (f"def train_epoch():\n    return {k}" for k in (1, 2))
        notebook = rebuilt(code(old), *released_content(UNIT)["cells"], code(new))
        assert sources(notebook)["train_epoch-solution"] == new
        position = [cell.id for cell in notebook.cells].index("train_epoch-solution")
        assert notebook.cells[position - 1].source == old

    @pytest.mark.parametrize("stub", ['    """Doc."""\n    raise NotImplementedError("later")', "    pass", "    ..."])
    def test_a_stub_does_not_count_against_an_answer(self, stub):
        answer = "def train_epoch():\n    return 1"
        notebook = rebuilt(code(answer), code(f"def train_epoch():\n{stub}"))
        assert (sources(notebook)["train_epoch-solution"], extras(notebook)) == (answer, [])

    def test_an_unchanged_wrong_function_that_was_given_to_repair_does_not_count_against_an_answer(self):
        template = json.loads(json.dumps(released_content(UNIT)))
        given = "def train_epoch():\n    return 'wrong'"
        cell_of(template, "train_epoch-solution")["source"] = given
        mended = "def train_epoch():\n    return 'right'"
        assert sources(rebuilt(code(mended), code(given), template=template))["train_epoch-solution"] == mended

    def test_removing_a_stub_above_another_answer_keeps_line_numbers(self):
        both = "def train_epoch():\n    raise NotImplementedError\ndef name_that_loop():\n    return 1"
        notebook = rebuilt(code("def train_epoch():\n    return 1"), code(both))
        assert sources(notebook)["name_that_loop-solution"] == "\n\ndef name_that_loop():\n    return 1"

    def test_a_cell_with_several_answers_stands_in_the_slot_of_the_first(self):
        both = "def name_that_loop():\n    return 1\ndef train_epoch():\n    return 1"
        found = sources(rebuilt(code(both)))
        assert found["train_epoch-solution"] == both
        assert found["name_that_loop-solution"] == "# name_that_loop stands in code cell 1."

    def test_a_cell_is_never_placed_after_a_later_version_of_its_functions(self):
        both = "def train_epoch():\n    return 'old'\ndef name_that_loop():\n    return 1"
        new = "def train_epoch():\n    return 'new'"
        code_cells = [cell.source for cell in rebuilt(code(both), code(new)).cells if cell.cell_type == "code"]
        assert code_cells.index(both) + 1 == code_cells.index(new)

    def test_a_cell_that_defines_nothing_is_recognised_by_its_grade_id(self):
        found = sources(rebuilt(code("# I could not do this", "train_epoch-solution")))
        assert found["train_epoch-solution"] == "# I could not do this"

    def test_a_function_that_was_split_is_joined_with_the_cell_before(self):
        parts = code("def train_epoch(x):\n    for y in x:"), code("        print(y)"), code("    return x")
        assert sources(rebuilt(*parts))["train_epoch-solution"] == "\n".join(part["source"] for part in parts)

    def test_a_joined_cell_is_named_by_all_its_parts(self):
        parts = [code("x = 1"), code("def train_epoch(x):\n    y = x"), code("    return y")]
        submission = parse_submission(Path(f"{UNIT}.ipynb"), json.dumps({"cells": parts}).encode())
        assert next(cell.name for cell in submission.cells if cell.id == "train_epoch-solution") == "code cell 2 and 3"

    @pytest.mark.parametrize(
        "second", ["    x = 1\n  y = 2", "def f(x:", "print(1)", "    def train_epoch():\n        return 1"]
    )
    def test_a_cell_that_is_not_a_second_half_is_not_joined(self, second):
        first = "def helper():\n    return 1"
        assert first in [cell.source for cell in rebuilt(code(first), code(second)).cells]

    def test_added_cells_stay_after_the_cell_that_they_followed(self):
        cells = released_cells()
        notebook = rebuilt(*cells[:5], code("def helper(): ..."), markdown("my note"), *cells[5:])
        position = [cell.id for cell in notebook.cells].index(cells[4]["id"])
        assert [cell.source for cell in notebook.cells[position + 1 : position + 3]] == ["def helper(): ...", "my note"]

    def test_a_note_after_a_given_cell_that_defines_an_exercise_stays_there(self):
        cells = released_content("00_start_here")["cells"]
        (position,) = (
            k for k, cell in enumerate(cells) if "def average_gradients(gradients):  # WRONG" in "".join(cell["source"])
        )
        data = json.dumps({"cells": [*cells[: position + 1], markdown("my note"), *cells[position + 1 :]]}).encode()
        submission = parse_submission(Path("00_start_here.ipynb"), data)
        assert submission.notebook.cells[position + 1].source == "my note"
        assert "the released cell" not in {cell.id: cell.name for cell in submission.cells}[cells[position]["id"]]

    def test_code_written_into_a_given_cell_is_run_before_what_was_given(self):
        cells = released_cells()
        given = next(cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("locked"))
        written = given["source"] + "\nimport math"
        notebook = rebuilt(*(dict(cell, source=written) if cell is given else cell for cell in cells))
        position = [cell.id for cell in notebook.cells].index(given["id"])
        assert [notebook.cells[position - 1].source, notebook.cells[position].source] == [written, given["source"]]

    def test_a_shortened_given_cell_is_not_kept_as_an_extra_cell(self):
        cells = released_cells()
        given = next(cell for cell in cells if "from itertools import islice\n" in cell["source"])
        given["source"] = "from itertools import islice  # used below"
        assert extras(rebuilt(*cells)) == []

    def test_a_released_text_with_notes_is_kept_after_the_original(self):
        cells = released_cells()
        notebook = rebuilt(dict(cells[0], source=cells[0]["source"] + "\n\nMy note."), *cells[1:])
        assert notebook.cells[0].source == cells[0]["source"]
        assert notebook.cells[1].source.endswith("My note.")

    def test_a_cell_that_is_too_long_is_replaced_by_a_comment_that_says_so(self):
        notebook = rebuilt(code("x = 1\n" * 100_000), code("def train_epoch(): return 1"))
        assert extras(notebook) == ["# 600000 characters stood here, too many to be read"]
        assert sources(notebook)["train_epoch-solution"] == "def train_epoch(): return 1"

    def test_a_notebook_without_code_is_refused(self):
        with pytest.raises(SubmissionError, match="without code cells"):
            rebuilt(markdown("# Hello"))


class TestManuallyMarkedCells:
    """Cells that an instructor added to the release, for answers that a person marks."""

    @pytest.fixture
    def template(self) -> dict:
        template = json.loads(json.dumps(released_content(UNIT)))
        roles = {"grade": True, "solution": True, "locked": False, "task": False, "points": 3.0, "schema_version": 3}
        for kind in ("markdown", "code"):
            cell = markdown("Your answer") if kind == "markdown" else code("# your plot")
            cell |= {"id": f"essay-{kind}", "metadata": {"nbgrader": roles | {"grade_id": f"essay-{kind}"}}}
            if kind == "markdown":
                del cell["outputs"], cell["execution_count"]
            template["cells"].insert(3, cell)
        return template

    def test_answers_are_found_by_grade_id(self, template):
        notebook = rebuilt(code("plot()", "essay-code"), markdown("Because.", "essay-markdown"), template=template)
        assert (sources(notebook)["essay-code"], sources(notebook)["essay-markdown"]) == ("plot()", "Because.")
        assert extras(notebook) == []
        assert next(cell for cell in notebook.cells if cell.id == "essay-markdown").metadata.nbgrader.points == 3.0

    def test_answers_without_metadata_are_found_by_id(self, template):
        notebook = rebuilt(code("x"), markdown("Because.", id="essay-markdown"), template=template)
        assert sources(notebook)["essay-markdown"] == "Because."

    def test_the_last_changed_copy_of_an_answer_counts(self, template):
        cells = [markdown(text, "essay-markdown") for text in ("one", "two", "Your answer")]
        notebook = rebuilt(code("x"), *cells, template=template)
        assert (sources(notebook)["essay-markdown"], extras(notebook)) == ("two", ["x", "one"])

    def test_an_answer_cannot_run_a_script_in_its_readers_browser(self, template):
        notebook = rebuilt(code("x"), markdown("<script>alert(1)</script>", "essay-markdown"), template=template)
        assert sources(notebook)["essay-markdown"] == "< script>alert(1)< /script>"


def test_attachments_that_are_pictures_are_kept():
    attachments = {"a.png": {"image/png": "iVBORw0KGgo="}, "b.svg": {"image/svg+xml": "<svg onload=alert(1)>"}}
    *_, note = (cell for cell in rebuilt(code("x"), markdown("note", attachments=attachments)).cells if cell.source == "note")
    assert note.attachments == {"a.png": {"image/png": "iVBORw0KGgo="}}


def test_raw_text_of_students_becomes_safe_markdown():
    notebook = rebuilt(code("x"), markdown("<script>", cell_type="raw"))
    theirs = [(cell.cell_type, cell.source) for cell in notebook.cells if cell.id.startswith("student-")]
    assert theirs == [("code", "x"), ("markdown", "< script>")]


def test_an_unreadable_file_gives_the_released_notebook_with_the_reason():
    notebook = unreadable(released_notebook(UNIT), "is not JSON")
    nbformat.validate(notebook)
    assert notebook.metadata.gradaccum == {"unit": UNIT, "unreadable": "is not JSON"}
    assert notebook.cells == rebuilt(*released_content(UNIT)["cells"]).cells


def test_an_exercise_without_a_cell_is_named_in_the_place_of_its_cell():
    cells = [cell for cell in released_content(UNIT)["cells"] if cell["id"] != "name_that_loop-solution"]
    cells.append(code("def train_epoch():\n    raise NotImplementedError"))
    data = json.dumps({"cells": cells}).encode()
    submission = parse_submission(Path("homework.ipynb"), data, UNIT)
    assert submission.absent == {"name_that_loop"}
    again = parse_submission(Path("homework.ipynb"), json.dumps(submission.content).encode(), UNIT)
    assert (again.absent, again.content) == (submission.absent, submission.content)
    assert "# name_that_loop is not in the file." in [cell.source for cell in submission.notebook.cells]
    assert parse_submission(Path("homework.ipynb"), data[:-900], UNIT).absent >= {"name_that_loop"}
