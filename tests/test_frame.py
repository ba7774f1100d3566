"""The project's frame: pins, imports, lint, documents, and what CI does with skips."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from distributions import applies, needed_by
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MARKING_CORE = (
    "gradaccum.phenomena",
    "autograder.desk.check",
    "autograder.exercises",
    "autograder.marking.marker",
    "autograder.hosts.pytest_plugin",
)
NOT_IN_THE_CORE = ("IPython", "dask", "ipykernel", "ipywidgets", "jupyter_client", "jupytext", "matplotlib", "nbclient")
NOT_IN_THE_CORE += ("nbconvert", "nbformat", "nbgrader", "rich", "safetensors", "typer")


def pins() -> dict[str, str]:
    """The exact versions that constraints.txt demands on a machine like this one."""
    lines = (line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#"))
    exact = [pin for pin in map(Requirement, lines) if applies(pin) and re.fullmatch(r"==[\w.]+", str(pin.specifier))]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in exact}


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)


def test_all_that_is_installed_is_pinned():
    extras = PROJECT["optional-dependencies"].values()
    installed = needed_by(*PROJECT["dependencies"], *(line for extra in extras for line in extra)) - {"gradaccum"}
    unpinned = sorted(installed - pins().keys())
    assert not unpinned, f"constraints.txt has no version of {', '.join(unpinned)}; run: make pins"


def test_the_pins_keep_to_the_versions_that_people_chose():
    chosen = map(Requirement, PYPROJECT["tool"]["uv"]["constraint-dependencies"])
    strayed = [str(choice) for choice in chosen if pins()[canonicalize_name(choice.name)] not in choice.specifier]
    assert not strayed, f"constraints.txt does not keep to {', '.join(strayed)}; run: make pins"


def test_torch_is_pinned_to_the_version_the_course_is_written_for():
    assert pins()["torch"] == "2.13.0"


def test_environment_yml_installs_this_project_with_the_pins():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *packages, pip = environment["dependencies"]
    assert [line for line in pip["pip"] if not line.startswith("--extra-index-url")] == [
        "-c constraints.txt",
        "-e .[lab,classroom]",
    ]
    assert "pip" in packages
    python = next(Requirement(p.replace("=", "==", 1)) for p in packages if p.startswith("python"))
    (version,) = [specifier.version for specifier in python.specifier]
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)


def test_environment_yml_pins_nothing_by_itself():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    names = {re.split("[=<> ]", p)[0] for p in environment["dependencies"] if isinstance(p, str)}
    assert names == {"python", "pip"}


@pytest.mark.slow
def test_importing_the_marking_core_does_not_import_notebook_libraries():
    done = run_python(f"import sys, {', '.join(MARKING_CORE)}; print(*sorted({set(NOT_IN_THE_CORE)} & sys.modules.keys()))")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.slow
def test_marking_works_where_there_is_only_torch_and_pytest():
    blocked = f"import sys; sys.modules.update(dict.fromkeys({NOT_IN_THE_CORE}))"  # None there makes an import fail
    marking = """
from autograder.check import check

def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    return []

print(check(train_epoch))
"""
    done = run_python(blocked + marking)
    assert done.returncode == 0, done.stderr
    assert "step-every" in done.stdout


@pytest.mark.slow
def test_a_machine_with_torch_matplotlib_and_pytest_alone_collects_the_tests_for_a_gpu_and_nothing_else():
    there = needed_by("torch", "matplotlib", "pytest")
    found = metadata.packages_distributions().items()
    lacking = {top for top, names in found if not {name.lower().replace("_", "-") for name in names} & there}
    assert {"nbgrader", "hypothesis", "yaml", "safetensors", "psutil", "typer", "tqdm", "xdist"} <= lacking
    code = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(lacking - {"gradaccum", "autograder"})}))
import pytest
sys.exit(pytest.main(["-m", "cuda", "-p", "no:cacheprovider"]))
"""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": ""}
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert re.search(r"\n=+ \d{3,} skipped", done.stdout)
    assert set(re.findall(r"\nSKIPPED \[\d+\] tests/(\w+)/.*: (.*)", done.stdout)) == {("cuda", "needs a CUDA device")}


@pytest.mark.slow
def test_the_bench_never_imports_the_autograder():
    code = """
import importlib, pkgutil, sys
sys.modules["autograder"] = None
import gradaccum
for module in pkgutil.walk_packages(gradaccum.__path__, "gradaccum."):
    importlib.import_module(module.name)
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_of_a_document_leads_somewhere(document):
    links = re.findall(r"\]\(([^)\s]+)\)", document.read_text())
    relative = [link.split("#")[0] for link in links if not re.match(r"\w+:|#", link)]
    assert [link for link in relative if not (document.parent / link).exists()] == []


def test_the_readme_lists_the_units_there_are():
    section = (ROOT / "README.md").read_text().split("\n## Units\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| \[(\d\d) ([^\]|]+)\]\([^)]+\) \|", section, re.MULTILINE)
    listed = ["_".join([number, *name.split()]) for number, name in rows]
    assert listed == sorted(path.stem for path in (ROOT / "solutions").glob("*.py"))


def test_the_architecture_has_a_row_for_every_folder_and_for_no_other():
    rows = set(re.findall(r"^\| `([\w/]+)/` \|", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE))
    folders = {
        path.parent.relative_to(ROOT) for package in ("gradaccum", "autograder") for path in ROOT.glob(f"{package}/**/*.py")
    }
    rooms = {str(folder) for folder in folders if not any(part.startswith("unit_") for part in folder.parts)}
    assert rows == rooms - {"gradaccum", "autograder"}


def test_no_file_mentions_a_path_of_the_machine_it_was_written_on():
    machine_path = re.compile(r"\.\./shared|(?<![\w.])/(home|root|Users|work)/\w")
    found = []
    for path in project_texts():
        for number, line in enumerate(path.read_text(errors="ignore").splitlines(), 1):
            if machine_path.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


def project_texts() -> Iterator[Path]:
    """The project's text files, but not notebooks in course/: a student may be at work there."""
    suffixes = ("", ".csv", ".html", ".json", ".md", ".py", ".toml", ".txt", ".yml")
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in suffixes and path.name != ".git")
    for folder in (".ci", "autograder", "benchmarks", "docs", "examples", "gradaccum", "solutions", "tests"):
        yield from (path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in suffixes)


def run_skipping_test(folder: Path, reason: str, ci: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "test_it.py").write_text(f"import pytest\n\ndef test_it():\n    pytest.skip({reason!r})\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:gradaccum", "-p", "no:cacheprovider", "--rootdir", folder, folder]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"CI": ci}, cwd=folder)


@pytest.mark.slow
def test_a_skipped_test_fails_the_run_on_ci(tmp_path):
    done = run_skipping_test(tmp_path, "chromium is missing: apt-get install chromium", ci="true")
    assert done.returncode == 1
    assert "test_it.py::test_it: chromium is missing" in done.stdout


@pytest.mark.slow
def test_a_skipped_test_is_fine_at_a_desk(tmp_path):
    assert run_skipping_test(tmp_path, "chromium is missing: apt-get install chromium", ci="").returncode == 0


def test_the_make_file_says_what_to_do_about_an_old_python(tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    done = subprocess.run(["make", "test", "PYTHON=false"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "needs Python 3.11 or newer" in done.stderr
