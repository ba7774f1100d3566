"""The paths that notebooks, classes and guides import from stay, wherever the code behind them moves.

A class that was made with an earlier release has that release's notebooks and configuration, so nothing is ever dropped from
``RELEASED``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RELEASED = {
    "autograder.check": ("check",),
    "autograder.classroom.exports": ("BlackboardExporter", "CanvasExporter", "MoodleExporter"),
    "autograder.devices": ("pick_device",),
    "autograder.github_classroom": ("main",),
    "autograder.nbgrader_plugins": ("DeductPerDay", "MarkSubmission", "ReadSubmission", "ShowModelAnswers"),
    "autograder.progress": ("show_progress",),
    "autograder.puzzle": ("show_puzzle",),
    "gradaccum.capstone.budget": ("activation_bytes",),
    "gradaccum.capstone.config": ("MIB", "SMALL"),
    "gradaccum.capstone.live": ("live_run",),
    "gradaccum.capstone.model": ("token_loss",),
    "gradaccum.capstone.text": ("IGNORE", "encode", "floor", "tokens_in"),
    "gradaccum.collectives": ("Collectives",),
    "gradaccum.components": ("COMPONENTS",),
    "gradaccum.contrastive": ("ContrastiveProblem", "gradients", "info_nce"),
    "gradaccum.explore": ("explore",),
    "gradaccum.fingerprint": ("batch_gradient",),
    "gradaccum.loops": ("GALLERY", "windows"),
    "gradaccum.loops_contrastive": ("GALLERY", "cached_features", "one_large_batch"),
    "gradaccum.loops_ddp": ("DDP_GALLERY",),
    "gradaccum.phenomena": (
        *("batchnorm_divergence", "contrastive_negatives", "equivalence", "learning_rate_scaling", "low_precision_sums"),
        *("memory_bar", "order_of_operations", "ranks_over_time", "resume", "run_drift", "who_hides"),
    ),
    "gradaccum.phenomena.gradient_noise": ("noise_scales",),
    "gradaccum.predict": ("predict",),
    "gradaccum.problems": ("Problem", "flat_gradient"),
    "gradaccum.ranks": ("on_ranks",),
    "gradaccum.real_trainers": ("releases",),
    "gradaccum.recording": ("LiveBytes",),
    "gradaccum.resuming": ("Run", "RunProblem"),
    "gradaccum.showing": ("show_fingerprint",),
    "gradaccum.token_problems": ("TokenProblem",),
    "gradaccum.trainer": ("Trainer",),
}
"""What earlier releases named, by module. Add what a new release names; remove nothing."""

NAMES = r"\((?P<several>[^)]*)\)|(?P<few>[\w, ]+)"
IMPORT = re.compile(rf"^\s*from\s+(?P<module>(?:autograder|gradaccum)[\w.]*)\s+import\s+(?:{NAMES})", re.MULTILINE)
DOTTED = re.compile(r"[\"'=](?P<module>(?:autograder|gradaccum)(?:\.\w+)*\.[a-z]\w*)\.(?P<name>[A-Z]\w*)\b")
RUN = re.compile(r"\bpython3? (?:-P )?-m (?P<module>autograder[\w.]*)")


def texts() -> Iterator[tuple[str, str]]:
    """What students and instructors are given, with its place."""
    for path in sorted((ROOT / "autograder" / "released").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield path.name, "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    files = [ROOT / "README.md", ROOT / "autograder" / "hosts" / "nbgrader_config.py", *ROOT.glob("docs/**/*.md")]
    files += [path for path in (ROOT / "examples").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for path in sorted(files):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def named_in(text: str) -> Iterator[tuple[str, str]]:
    """The modules of ours that a text names, each with a name in it."""
    for found in IMPORT.finditer(text):
        names = re.sub(r"#.*", "", found["several"] or found["few"] or "")
        yield from ((found["module"], name.split()[0]) for name in names.split(",") if name.strip())
    yield from ((found["module"], found["name"]) for found in DOTTED.finditer(text))


def is_there(module: str, name: str) -> bool:
    """Whether ``from module import name`` works; a name may be that of a submodule."""
    return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None


NAMED = sorted({(place, module, name) for place, text in texts() for module, name in named_in(text)})
RUN_AS_PROGRAMS = sorted({found["module"] for _, text in texts() for found in RUN.finditer(text)})


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in RELEASED.items() for name in names])
def test_what_earlier_releases_named_is_still_there(module, name):
    assert is_there(module, name)


@pytest.mark.parametrize(("place", "module", "name"), NAMED)
def test_what_is_named_for_students_and_instructors_can_be_imported(place, module, name):
    assert is_there(module, name)


@pytest.mark.parametrize("module", RUN_AS_PROGRAMS)
def test_a_module_that_is_to_be_run_as_a_program_is_there(module):
    assert find_spec(module)


def test_notebooks_and_configurations_name_only_what_the_list_of_released_paths_has():
    """Otherwise the path is new, and belongs in the list."""
    released = {(module, name) for module, names in RELEASED.items() for name in names}
    binding = [(place, module, name) for place, module, name in NAMED if place.endswith((".ipynb", "nbgrader_config.py"))]
    assert [one for one in binding if one[1:] not in released] == []


def test_paths_are_found_in_notebooks_configurations_and_commands():
    found = {(module, name) for _, module, name in NAMED}
    assert {("autograder.check", "check"), ("autograder.nbgrader_plugins", "MarkSubmission")} <= found
    assert {("gradaccum.loops_contrastive", "cached_features"), ("gradaccum.capstone.text", "tokens_in")} <= found
    assert "autograder.github_classroom" in RUN_AS_PROGRAMS


def test_the_report_for_github_classroom_runs_as_the_workflow_runs_it(tmp_path):
    marks = {"unit": "00_start_here", "score": 0.0, "max_score": 1.0, "exercises": []}
    (tmp_path / "marks.json").write_text(json.dumps({"files": [marks]}))
    places = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    command = [sys.executable, "-P", "-m", "autograder.github_classroom", "marks.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)} | places)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "GITHUB_OUTPUT").read_text().startswith("result=")
