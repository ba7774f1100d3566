"""A file becomes a unit and code to run, or an error of one line that says what is wrong with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.contract.units import UNITS
from autograder.reading.submissions import SubmissionError, parse_submission, read_submission
from autograder.released import released_content
from autograder.support import regular_files

LOOP = "def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):\n    return []\n"


def sources(submission) -> list[str]:
    """The code that was handed in, without cells of the release."""
    return [cell.source for cell in submission.cells if not cell.name.startswith("the released cell")]


def notebook_of(unit: str | None, *cells: dict) -> dict:
    metadata = {"gradaccum": {"unit": unit}} if unit else {}
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def code(source, **metadata) -> dict:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def test_the_error_for_an_unusable_file_is_one_line_with_its_path_and_the_problem(unusable):
    path, words = unusable
    with pytest.raises(SubmissionError) as complaint:
        read_submission(path)
    said = str(complaint.value)
    assert words in said
    assert said.startswith(str(path.parent))
    assert said.splitlines() == [said]


def test_the_error_for_a_file_without_read_permission_gives_the_reason(write, monkeypatch):
    path = write("04_training_loop.py", LOOP)

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(regular_files.os, "open", refuse)
    with pytest.raises(SubmissionError, match="cannot be read: Permission denied"):
        read_submission(path)


@pytest.mark.parametrize("kind", ["file", "folder", "nothing", "pipe", "device", "itself"])
def test_a_link_is_followed_only_for_people_who_name_their_own_file(write, tmp_path, kind):
    link, path = tmp_path / "04_training_loop.py", write("elsewhere/loop.py", LOOP)
    os.mkfifo(tmp_path / "pipe")
    targets = {"file": path, "folder": path.parent, "pipe": tmp_path / "pipe", "device": "/dev/zero", "itself": link}
    link.symlink_to(targets.get(kind, "nowhere"))
    with pytest.raises(SubmissionError, match="is a link, which is not followed"):
        read_submission(link, follow=False)
    if kind == "file":
        assert read_submission(link, "04_training_loop").unit == "04_training_loop"
    else:
        with pytest.raises(SubmissionError):
            read_submission(link, "04_training_loop")


def test_a_renamed_notebook_is_of_the_unit_that_it_was_released_as(write):
    path = write("homework.ipynb", notebook_of("04_training_loop", code(LOOP)))
    assert read_submission(path).unit == "04_training_loop"


def test_a_notebook_without_metadata_is_recognised_by_its_grade_ids(write):
    cells = code(LOOP, nbgrader={"grade_id": "train_epoch-solution"}), code("1", nbgrader={"grade_id": "start"})
    assert read_submission(write("homework.ipynb", notebook_of(None, *cells))).unit == "04_training_loop"


def test_a_notebook_with_exercises_of_two_units_is_refused(write):
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
def test_a_file_name_with_additions_still_tells_the_unit(write, name):
    content = LOOP if name.lower().endswith(".py") else notebook_of(None, code(LOOP))
    submission = read_submission(write(name, content))
    assert (submission.unit, sources(submission)) == ("04_training_loop", [LOOP])


def test_every_unit_is_recognised_by_its_name(write):
    assert [read_submission(write(f"{unit}.py", LOOP)).unit for unit in UNITS] == list(UNITS)


def test_a_notebook_with_another_file_extension_is_read(write):
    path = write("04_training_loop.ipynb.txt", notebook_of(None, code(LOOP)))
    assert sources(read_submission(path)) == [LOOP]


def test_the_unit_in_the_metadata_wins_over_the_name(write):
    path = write("03_accumulate.ipynb", notebook_of("04_training_loop", code(LOOP)))
    assert read_submission(path).unit == "04_training_loop"


def test_an_unknown_unit_in_the_metadata_is_ignored(write):
    path = write("03_accumulate.ipynb", notebook_of("99_nothing", code(LOOP)))
    assert read_submission(path).unit == "03_accumulate"


def test_line_ends_and_a_byte_order_mark_do_not_change_a_python_file(write):
    plain = read_submission(write("a/04_training_loop.py", LOOP))
    windows = read_submission(write("b/04_training_loop.py", b"\xef\xbb\xbf" + LOOP.replace("\n", "\r\n").encode()))
    old = read_submission(write("c/04_training_loop.py", LOOP.replace("\n", "\r")))
    assert sources(plain) == sources(windows) == sources(old)


def test_a_notebook_with_a_byte_order_mark_or_in_utf_16_is_read(write):
    text = json.dumps(notebook_of(None, code(LOOP)))
    for encoding in ("utf-8-sig", "utf-16"):
        assert sources(read_submission(write("04_training_loop.ipynb", text.encode(encoding)))) == [LOOP]


def test_windows_line_ends_do_not_change_a_cell(write):
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


def test_checks_are_not_among_the_code_to_run(write):
    submission = read_submission(write("04_training_loop.ipynb", notebook_of(None, code(LOOP))))
    checks = [cell.id for cell in submission.notebook.cells if cell.source.startswith("check(")]
    assert len(checks) == 5
    assert not {cell.id for cell in submission.cells} & set(checks)


def test_every_piece_of_code_to_run_is_a_cell_of_the_notebook(write):
    submission = read_submission(write("04_training_loop.ipynb", notebook_of(None, code(LOOP), code("mine = 1"))))
    sources_by_id = {cell.id: cell.source for cell in submission.notebook.cells}
    assert {cell.id: cell.source for cell in submission.cells}.items() <= sources_by_id.items()
    assert sources_by_id["train_epoch-solution"] == LOOP


def test_a_python_file_has_no_notebook(write):
    assert read_submission(write("04_training_loop.py", LOOP)).notebook is None


def test_the_code_of_an_unreleased_unit_is_run_as_it_is(write, monkeypatch):
    monkeypatch.setattr("autograder.reading.submissions.released_content", lambda unit: None)
    path = write("12_capstone.ipynb", notebook_of(None, {"cell_type": "raw", "source": "x"}, code("a"), code(""), code("b")))
    submission = read_submission(path)
    assert [(cell.name, cell.source) for cell in submission.cells] == [("code cell 1", "a"), ("code cell 3", "b")]
    assert submission.notebook is None


def test_cells_are_named_by_their_place_among_the_code_cells(write):
    prose = {"cell_type": "markdown", "metadata": {}, "source": "x"}
    path = write("04_training_loop.ipynb", notebook_of(None, prose, code("a"), code(""), prose, code("b")))
    names = [cell.name for cell in read_submission(path).cells]
    assert names[:2] == ["code cell 1", "code cell 3"]
    assert "the released cell predict-2" in names
    assert len(set(names)) == len(names)


def test_a_given_cell_is_named_by_its_place_in_the_submission(write):
    path = write("04_training_loop.ipynb", json.dumps(released_content("04_training_loop")))
    assert {cell.name.rpartition(" ")[0] for cell in read_submission(path).cells} == {"code cell"}


def test_the_unit_passed_by_the_caller_wins_over_the_metadata():
    data = json.dumps(notebook_of("03_accumulate", code(LOOP))).encode()
    assert parse_submission(Path("05_learning_rate.ipynb"), data, unit="04_training_loop").unit == "04_training_loop"


def test_a_notebook_without_metadata_and_ids_is_recognised_by_its_functions(write):
    several = "from gradaccum.fingerprint import batch_gradient\ndef repaired_early_clear(): return 1\n" + LOOP
    assert read_submission(write("homework.ipynb", notebook_of(None, code(several)))).unit == "04_training_loop"


def test_the_template_passed_by_the_caller_is_used(write):
    template = released_content("04_training_loop") | {"metadata": {"mine": True}}
    data = json.dumps(notebook_of("04_training_loop", code(LOOP))).encode()
    assert parse_submission(Path("x.ipynb"), data, template=template).notebook.metadata == {"mine": True}


SMALL_LIMIT = 2**26
MEMORY_PROGRAM = f"""
import sys
from autograder.reading import notebook_json
notebook_json.MAX_MEMORY = {SMALL_LIMIT}
def peak():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
try:
    notebook_json.json_of(open(sys.argv[1], "rb").read())
    print(peak() - before, "read")
except notebook_json.UnreadableError:
    print(peak() - before, "refused")
"""

BOMBS = {  # with sizes just below and just above the limit
    "lists": ("[{}0]", "[0],", 240_000, 275_000),
    "dictionaries": ("[{}0]", '{"":{"":{"":0}}},', 69_000, 85_000),
    "numbers": ("[{}0]", "1.5,", 470_000, 550_000),
    "strings": ("[{}0]", '"\u4e00\u4e01",', 370_000, 550_000),
    "keys": ("[{}0]", '{"%d":0},', 148_000, 200_000),
    "a wide text": ('"{}\U0001f600"', "a", 5_200_000, 6_000_000),
    "a wide escaped text": (r'"{}\ud83d\ude00"', "a", 9_200_000, 10_000_000),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("outcome", ["read", "refused"])
def test_reading_a_json_bomb_stays_within_the_memory_limit(bomb, outcome, write):
    """The limit includes the bytes of the file."""
    frame, unit, fits, too_many = BOMBS[bomb]
    count = fits if outcome == "read" else too_many
    inside = "".join(unit % k for k in range(count)) if "%" in unit else unit * count
    path = write("bomb.ipynb", frame.format(inside))
    done = subprocess.run([sys.executable, "-c", MEMORY_PROGRAM, path], capture_output=True, text=True, check=True)
    used, said = done.stdout.split()
    assert (said, int(used) < 1.1 * SMALL_LIMIT) == (outcome, True), f"{int(used) / SMALL_LIMIT:.2f}"


@pytest.mark.parametrize("damage", [None, 3, "text", {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}}])
def test_a_damaged_cell_costs_only_itself(write, damage):
    path = write("04_training_loop.ipynb", notebook_of(None, damage, code(LOOP)))
    assert sources(read_submission(path)) == [LOOP]


@pytest.mark.parametrize("metadata", [None, 3, [], {"gradaccum": 3}, {"gradaccum": {"unit": ["x"]}}])
def test_a_notebook_with_damaged_metadata_is_read(write, metadata):
    notebook = notebook_of(None, code(LOOP, nbgrader=3)) | {"metadata": metadata}
    assert read_submission(write("04_training_loop.ipynb", notebook)).unit == "04_training_loop"


def test_reading_a_named_submission_imports_neither_torch_nor_notebook_libraries(write):
    path = write("04_training_loop.ipynb", notebook_of(None, code(LOOP)))
    program = f"import sys; from autograder.reading.submissions import read_submission; read_submission({str(path)!r})"
    program += "; print({'torch', 'nbformat'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "set()"
