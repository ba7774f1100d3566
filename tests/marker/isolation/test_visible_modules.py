"""In the sandbox student code can import what observes it and what notebooks use, and nothing else of the course."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from autograder.isolation.visible_modules import PACKAGES, VISIBLE_MODULES, is_visible, modules_in, packages_folder
from autograder.marking.marker import Marker
from autograder.reading.submissions import parse_submission

ROOT = Path(__file__).parents[3]

LOOK = """
import importlib, json, os, pkgutil, sys
for name in [name for name in sys.modules if name.split(".")[0] in {packages}]:
    if sys.modules[name].__spec__ is None:
        del sys.modules[name]  # a stand-in for what notebooks show
found = dict()
for entry in [*sys.path, "/usr/lib/python3/dist-packages", *{more}]:
    for package in {packages}:
        if os.path.isdir(os.path.join(entry, package)):
            for module in pkgutil.walk_packages([os.path.join(entry, package)], package + "."):
                try:
                    importlib.import_module(module.name)
                    found[module.name] = ""
                except BaseException as error:
                    found[module.name] = repr(error)
files = [os.path.join(folder, name) for place in {places} for folder, _, names in os.walk(place) for name in names]
open("/tmp/found", "w").write(json.dumps([found, files]))

def average_gradients(gradients):
    return sum(gradients) / len(gradients)

part = 0
"""
PRINT = "print(open('/tmp/found').read()[{start}:{end}])\n"
MARK = """
import sys
from pathlib import Path
from autograder.isolation.visible_modules import packages_folder
from autograder.marking.marker import Marker
from autograder.reading.submissions import parse_submission
with Marker("bwrap") as marker:
    marks = marker.mark(parse_submission(Path("00_start_here.ipynb"), Path(sys.argv[1]).read_bytes(), "00_start_here"))
print(packages_folder())
print(marks.score)
for report in marks.reports:
    assert not report.trouble, report
    print(report.printed.rstrip("\\n"), end="")
"""


def notebook(places: list[Path], more: list[str]) -> str:
    """A submission that tries to import every module it finds, and prints in many cells what came of it."""
    look = LOOK.format(packages=PACKAGES, more=more, places=list(map(str, places)))
    prints = [PRINT.format(start=start, end=start + 3000) for start in range(0, 120_000, 3000)]
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [empty | {"source": source} for source in (look, *prints)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def look_from_inside(folder: Path, submission: str, environment: dict[str, str], python: str = sys.executable) -> tuple:
    """Where the packages are outside, the points, and inside: what importing each module raised, and all files."""
    (folder / "look.ipynb").write_text(submission)
    done = subprocess.run(
        [python, "-P", "-c", MARK, str(folder / "look.ipynb")], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    place, score, printed = done.stdout.split("\n", 2)
    found, files = json.loads(printed[printed.index("[{") :])
    return Path(place), float(score), found, files


def expected_modules() -> set[str]:
    names = {name for name, _ in modules_in(ROOT) if is_visible(name)}
    assert {"autograder.isolation.worker", "autograder.exercises.unit_04_training_loop.observing", "gradaccum.loops"} < names
    return names - set(PACKAGES)


def test_the_contract_on_imports_is_about_the_modules_that_are_visible():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = [one for one in contracts if one["name"].startswith("What runs beside student code")]
    assert tuple(contract["source_modules"]) == VISIBLE_MODULES


def test_no_module_that_judges_or_holds_answers_is_visible():
    words = {"judging", "diagnosing", "marking", "exercises.py", "mistakes", "sections", "puzzle", "released", "promises"}
    words |= {"publishing", "classroom", "desk", "hosts", "variants", "run_drift", "schema", "trials_of"}
    seen = [name for name, file in modules_in(ROOT) if is_visible(name) and words & {*name.split("."), file.name}]
    assert seen == []


def test_mistakes_are_named_in_the_sandbox_only_by_what_watches_trainers():
    seen = [name for name, _ in modules_in(ROOT) if is_visible(name) and {"diagnosis", "verdict"} & {*name.split(".")}]
    others = [name for name in seen if not name.startswith(("gradaccum.diagnosis", "gradaccum.watching."))]
    assert seen
    assert others == []


@pytest.mark.slow
def test_in_the_sandbox_exactly_the_visible_modules_of_a_clone_can_be_imported(tmp_path):
    places = [ROOT / name for name in (*PACKAGES, "solutions", "tests", "course", "docs")]
    place, score, found, files = look_from_inside(tmp_path, notebook(places, []), dict(os.environ))
    assert (place, score) == (packages_folder(), 1.0)
    assert found == dict.fromkeys(sorted(expected_modules()), "")
    assert {name for name, file in modules_in(ROOT) if str(file) in files} == expected_modules() | set(PACKAGES)
    assert all(name.endswith((".py", ".pyc")) or "real_trainers/recorded" in name for name in files)


@pytest.mark.slow
@pytest.mark.parametrize("also_in_a_clone", [False, True], ids=["alone", "beside a clone"])
def test_in_the_sandbox_exactly_the_visible_modules_of_an_installed_course_can_be_imported(tmp_path, also_in_a_clone):
    """The packages are in ``site-packages``, the one place for libraries that a sandbox shows as a whole."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(tmp_path / "venv")], check=True)
    (library,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    clone = tmp_path / "clone"
    for place in [library, *([clone] if also_in_a_clone else [])]:
        for package in PACKAGES:
            shutil.copytree(ROOT / package, place / package, ignore=shutil.ignore_patterns("__pycache__"))
    (library / "others.pth").write_text("\n".join(entry for entry in sys.path if entry.endswith("site-packages")))
    (clone / "solutions").mkdir(parents=True)
    (clone / "solutions" / "secret.py").write_text("secret = 1")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    environment |= {"PYTHONPATH": str(clone)} if also_in_a_clone else {}
    submission = notebook([library / name for name in PACKAGES] + [clone], [str(library), str(clone)])
    python = str(tmp_path / "venv" / "bin" / "python")
    place, score, found, files = look_from_inside(tmp_path, submission, environment, python)
    assert (place, score) == ((clone if also_in_a_clone else library), 1.0)
    assert found == dict.fromkeys(sorted(expected_modules()), "")
    assert not [name for name in files if name.endswith(("secret.py", "judging.py", "exercises.py", ".ipynb"))]


@pytest.mark.slow
def test_a_fork_server_leaves_nothing_of_the_packages_it_showed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Marker("bwrap") as marker:
        marker.mark(parse_submission(Path("00_start_here.py"), b"def average_gradients(gradients): return gradients[0]"))
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith("gradaccum-packages-")]
    assert list(tmp_path.iterdir()) == []
