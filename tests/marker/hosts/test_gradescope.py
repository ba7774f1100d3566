"""Gradescope gets ``results.json`` for whatever was handed in, and the example's scripts make it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.exercises import exercises_of
from autograder.hosts.gradescope import results
from autograder.marking.marker import Marks
from autograder.showing.verdict_html import as_html

EXAMPLE = Path(__file__).parents[3] / "examples/gradescope"
MEAN = "def average_gradients(gradients):\n    return sum(gradients) / len(gradients)\n"
SUM = "def average_gradients(gradients):\n    return sum(gradients)\n"


@pytest.fixture
def check(capsys, tmp_path):
    """Run ``gradaccum check``; its exit status, what it says on stderr, and the results it wrote."""

    def check(*arguments: object) -> tuple[int, str, dict | None]:
        file = tmp_path / "results" / "results.json"
        with pytest.raises(SystemExit) as end:
            main(["check", *map(str, arguments), "--device", "cpu", "--gradescope", str(file)])
        return end.value.code or 0, capsys.readouterr().err, json.loads(file.read_text()) if file.exists() else None

    return check


@pytest.mark.slow
def test_the_results_of_a_submission_have_gradescopes_fields(check, write):
    code, _, document = check(write("00_start_here.py", SUM))
    (test,) = document.pop("tests")
    assert code == 0
    assert document == {
        "score": 0.0,
        "output": "00_start_here, marked on cpu. Points are partial: an exercise gives them part by part.",
        "output_format": "text",
        "stdout_visibility": "hidden",
        "test_output_format": "html",
        "test_name_format": "text",
    }
    assert "no-scale" in test.pop("output")
    assert test == {
        "number": "1",
        "name": "average_gradients",
        "score": 0.0,
        "max_score": 1.0,
        "status": "failed",
        "output_format": "html",
        "visibility": "visible",
    }


def test_tests_carry_the_verdicts_and_add_up_to_the_score():
    verdicts = []
    for k, exercise in enumerate(exercises_of("04_training_loop")):
        missing = [part.name for part in exercise.parts][k % 2 :]
        verdicts.append(exercise.verdict({p.name: "" if p.name in missing else "<b>no</b>" for p in exercise.parts}))
    document = results(Marks("04_training_loop.py", "04_training_loop", "cpu", tuple(verdicts)))
    tests = document["tests"]
    assert [test["output"] for test in tests] == [as_html(verdict, handed_in=True) for verdict in verdicts]
    assert [test["status"] == "passed" for test in tests] == [verdict.passed for verdict in verdicts]
    assert 0 < document["score"] == sum(test["score"] for test in tests) < sum(test["max_score"] for test in tests)
    assert "<b>no" not in tests[1]["output"]


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "there is no such file"), (b"PK\x03\x04", "is a zip archive"), (b'{"cells": [', "is not JSON")],
)
def test_a_file_that_cannot_be_marked_gets_zero_and_the_reason_and_is_no_error(check, write, tmp_path, content, words):
    path = write("my.ipynb", content) if content else tmp_path / "my.ipynb"
    code, err, document = check(path)
    assert (code, document["score"], document["tests"]) == (0, 0.0, [])
    assert words in document["output"]
    assert words in err


def test_an_unusable_file_gets_zero_for_every_exercise_if_the_unit_is_known(check, tmp_path):
    _, _, document = check(tmp_path / "essay.ipynb", "--unit", "04")
    assert {test["name"]: test["max_score"] for test in document["tests"]} == {
        exercise.id: exercise.max_score for exercise in exercises_of("04_training_loop")
    }
    assert {(test["score"], test["status"]) for test in document["tests"]} == {(0.0, "failed")}


def test_the_requested_unit_is_marked_whatever_the_file_is_called(check, write):
    code, _, document = check(write("my solution.py", MEAN), "--unit", "00")
    assert (code, document["score"]) == (0, 1.0)


@pytest.mark.parametrize("name", ["00_start_here.py", "00_start_here.ipynb"])
def test_a_file_of_another_unit_gets_no_points(check, write, name):
    _, _, document = check(write(name, [MEAN] if name.endswith("ipynb") else MEAN), "--unit", "03_accumulate")
    assert document["score"] == 0.0
    assert "answers unit 00_start_here, not 03_accumulate; hand in the one of 03_accumulate" in document["output"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.py", "b.py"], "--gradescope is for one submission; name one file"),
        (["a.py", "--unit", "99"], "no unit is called '99'; there are 00_start_here, "),
    ],
)
def test_an_unusable_command_line_writes_nothing(check, arguments, words):
    code, err, document = check(*arguments)
    assert (code, document) == (2, None)
    assert words in err


def test_results_that_cannot_be_written_are_reported_in_one_line(capsys):
    with pytest.raises(SystemExit) as end:
        main(["check", "missing.py", "--gradescope", "/proc/results.json"])
    assert end.value.code == 2
    assert "gradaccum check: /proc/" in capsys.readouterr().err


@pytest.fixture
def gradescope(tmp_path):
    """A container of Gradescope's in a temporary folder, and a program in place of ``gradaccum`` that says how it is called."""
    for folder in ("submission", "results", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(EXAMPLE / "run_autograder", tmp_path)
    _program(tmp_path / "bin/gradaccum", 'printf "%s\\n" "$@"')
    _program(tmp_path / "bin/bwrap", "exit 0")

    def run(**settings: str) -> list[str]:
        environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "AUTOGRADER_ROOT": str(tmp_path), "HOME": str(tmp_path)}
        environment |= {"GRADACCUM": str(tmp_path / "bin/gradaccum")} | settings
        done = subprocess.run([tmp_path / "run_autograder"], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.replace(str(tmp_path), "").splitlines()

    return run


def _program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("handed_in", "marked"),
    [
        (["a.ipynb", "04_training_loop.ipynb", "b.py"], "04_training_loop.ipynb"),
        (["b.py", "my notebook.ipynb"], "my notebook.ipynb"),
        (["loop.py", "notes.txt"], "loop.py"),
        (["notes.txt"], "04_training_loop.ipynb"),
        ([], "04_training_loop.ipynb"),
    ],
)
def test_the_script_picks_the_right_file_of_an_upload(gradescope, tmp_path, handed_in, marked):
    for name in handed_in:
        (tmp_path / "submission" / name).touch()
    assert gradescope() == [
        "check",
        f"/submission/{marked}",
        *("--unit", "04_training_loop", "--seed", "0", "--device", "cpu", "--sandbox"),
        *("--gradescope", "/results/results.json"),
    ]


def test_without_a_sandbox_the_script_says_so(gradescope, tmp_path):
    _program(tmp_path / "bin/bwrap", "exit 1")
    said, *arguments = gradescope(SEED="7")
    assert said.startswith("This container allows no sandbox")
    assert "--sandbox" not in arguments
    assert arguments[arguments.index("--seed") + 1] == "7"


@pytest.mark.slow
def test_the_script_marks_a_submission(gradescope, tmp_path):
    (tmp_path / "bin/bwrap").unlink()
    _program(tmp_path / "bin/gradaccum", f'exec "{sys.executable}" -c "from autograder.cli import main; main()" "$@"')
    (tmp_path / "submission/solution.py").write_text(MEAN)
    gradescope(UNIT="00_start_here", PYTHONPATH=str(EXAMPLE.parents[1]))
    document = json.loads((tmp_path / "results/results.json").read_text())
    assert (document["score"], document["tests"][0]["status"]) == (1.0, "passed")


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_the_scripts_are_programs_in_bash(script):
    assert os.access(EXAMPLE / script, os.X_OK)
    assert subprocess.run(["bash", "-n", EXAMPLE / script], capture_output=True, text=True).stderr == ""
