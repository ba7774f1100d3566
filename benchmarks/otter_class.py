"""The same assignment for otter-grader, in an environment of its own; see :mod:`marking_throughput`.

Equivalent means: the notebook that was handed in, with ``grader.check("train_epoch")`` where it has ``check(train_epoch)``, and
a test file for each exercise, whose test cases are the exercise's parts with their points. The first of them has the exercise
observed and judged, once, by the function that the course's own ``check`` calls. What differs is what is compared: how otter
starts, executes the notebook and comes by the points. Its containers are left out: ``otter run`` grades one notebook on this
machine, as ``run_autograder`` does in a container that has been started.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat

from autograder.exercises import exercises_of

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradaccum" / "otter-grader"

TEST = """\
from otter.test_files import test_case
from autograder.marking.in_process import mark_function
from autograder.exercises import all_exercises

OK_FORMAT = False
name = "{exercise}"
points = None
verdicts = []


def case(part):
    def earned(env):
        if not verdicts:
            verdicts.append(mark_function(all_exercises()[name], env[name]))
        result = next(result for result in verdicts[0].results if result.part.name == part.name)
        assert result.passed, result.message

    return test_case(name=part.name, points=part.points)(earned)


for number, one in enumerate(all_exercises()[name].parts):
    globals()[f"case_{{number}}"] = case(one)
"""


class NoOtterError(RuntimeError):
    """Otter cannot be installed or used here. One line."""


def otter() -> Path:
    """The program ``otter``, installed together with what the course needs, in an environment of its own.

    Raises:
        NoOtterError: it cannot be installed.
    """
    program, ready = ENVIRONMENT / "bin" / "otter", ENVIRONMENT / "ready"
    if not ready.exists():
        print(f"installing otter-grader into {ENVIRONMENT}", file=sys.stderr)
        course = ["torch", "ipywidgets", "matplotlib", "psutil", "safetensors", "tqdm"]
        _run(sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT))
        pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
        _run(*pip, "otter-grader[grading]", *course)
        ready.touch()
    return program


def version() -> str:
    ask = "from importlib.metadata import version; print(version('otter-grader'))"
    return _run(str(ENVIRONMENT / "bin" / "python"), "-c", ask).strip()


def prepare(place: Path, unit: str) -> None:
    """Write the tests of a unit's exercises and have otter pack them into ``autograder.zip``."""
    (place / "tests").mkdir(parents=True)
    for exercise in exercises_of(unit):
        (place / "tests" / f"{exercise.id}.py").write_text(TEST.format(exercise=exercise.id), encoding="utf-8")
    generate = ("generate", "-t", "tests", "-o", "autograder.zip", "--no-config", "--no-requirements", "--no-environment")
    _run(str(otter()), *generate, cwd=place)


def hand_in(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook of the course with otter's checks in place of the course's."""
    notebook = nbformat.from_dict(json.loads(nbformat.writes(notebook)))
    for cell in notebook.cells:
        roles = cell.metadata.get("nbgrader", {})
        if roles.get("grade") and cell.cell_type == "code":
            cell.source = f'grader.check("{roles["grade_id"]}")'
    notebook.cells.insert(0, nbformat.v4.new_code_cell("import otter\n\ngrader = otter.Notebook()", id="otter"))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def grading(place: Path, names: list[str]) -> list[str]:
    """The command that grades notebooks in a folder prepared by :func:`prepare`, one after the other."""
    script = 'for name in "$@"; do mkdir -p "results/$name"; "$0" run -a autograder.zip -o "results/$name" --no-logo '
    script = f"export PYTHONPATH={shlex.quote(str(ROOT))}; {script}"
    return ["sh", "-ec", script + '"submitted/$name.ipynb"; done', str(otter()), *names]


def points(place: Path, name: str) -> float:
    """What otter gave to a notebook."""
    found = json.loads((place / "results" / name / "results.json").read_text(encoding="utf-8"))
    return sum(test.get("score", 0.0) for test in found["tests"])


def _run(*command: str, cwd: Path | None = None) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        reasons = [line for line in said if line.startswith("ERROR")] or said[-1:] or ["no reason given"]
        raise NoOtterError(reasons[-1])
    return done.stdout
