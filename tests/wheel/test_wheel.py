"""The wheel works on a machine without a clone: it is built, installed into an environment of its own, and used as people do.

What the wheel needs is taken from the environment of the tests, all but this project.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from installations import Installation, installed, link_distributions, needed_without_extras

ROOT = Path(__file__).parents[2]
UNIT = "04_training_loop"
TRAINER = """
import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    (model(torch.randn(2, 3)).square().mean() / {divisor}).backward()
    if step % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
"""
MARK = """
import sys
from pathlib import Path
from autograder.marking.marker import Marker
from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.reading.submissions import parse_submission

code = Path(sys.argv[2]).read_text().format(solutions=str(SOLUTIONS), installation=sys.prefix)
with Marker(sys.argv[1]) as marker:
    (report,) = marker.mark(parse_submission(Path("00_start_here.py"), code.encode(), "00_start_here")).reports
assert not report.trouble, report
print(report.printed)
"""
LOOK = """
import json, os
found = [name for place in ({solutions!r}, {installation!r}) for _, _, names in os.walk(place) for name in names]
print(json.dumps([name for name in found if name[:2].isdigit()]))

def average_gradients(gradients):
    return sum(gradients) / len(gradients)
"""


@pytest.fixture(scope="module")
def installation(wheel, tmp_path_factory) -> Installation:
    """The wheel in an environment that sees the libraries of this one.

    An editable installation of a clone works by a ``.pth`` file, and such files are only read in the environment's own folder.
    """
    place = tmp_path_factory.mktemp("installed") / "venv"
    library = installed(wheel, place)
    (library / "others.pth").write_text("\n".join(entry for entry in sys.path if entry.endswith("site-packages")))
    return Installation(place)


@pytest.fixture(scope="module")
def core(wheel, tmp_path_factory) -> Installation:
    """The wheel in an environment that has what it needs without extras, and nothing else."""
    place = tmp_path_factory.mktemp("core") / "venv"
    link_distributions(installed(wheel, place), needed_without_extras())
    return Installation(place)


@pytest.fixture(scope="module")
def school(installation, tmp_path_factory) -> Path:
    """A class that was made and released from the wheel, and whose only student handed in the solutions."""
    folder = tmp_path_factory.mktemp("school")
    installation.gradaccum(folder, "classroom", "init", "my-class", "--units", "04")
    installation.gradaccum(folder, "classroom", "release", "my-class")
    shutil.copytree(folder / "my-class/source" / UNIT, folder / "my-class/submitted/ada" / UNIT)
    return folder


@pytest.mark.slow
def test_nothing_of_an_installed_wheel_comes_from_a_clone(installation, tmp_path):
    code = "import autograder, gradaccum, sys; print(autograder, gradaccum, *sys.path, *sys.meta_path, sep='\\n')"
    printed = installation.run(tmp_path, "python", "-c", code).stdout.splitlines()
    assert all(str(installation.place) in line for line in printed[:2])
    assert str(ROOT) not in printed
    assert not any("editable" in line for line in printed)


@pytest.mark.slow
def test_a_wheel_has_the_version_of_the_package_and_holds_no_tests_and_no_tools(wheel):
    import gradaccum

    assert wheel.name == f"gradaccum-{gradaccum.__version__}-py3-none-any.whl"
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"autograder", "gradaccum", f"gradaccum-{gradaccum.__version__}.dist-info"}


@pytest.mark.slow
def test_an_installed_wheel_lays_out_the_notebooks(installation, tmp_path):
    installation.gradaccum(tmp_path, "course", "here")
    expected = {path.name: path.read_bytes() for path in (ROOT / "autograder" / "released").glob("*.ipynb")}
    assert {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()} == expected


@pytest.mark.slow
def test_an_installed_wheel_marks_a_solved_unit(installation, school):
    said = installation.gradaccum(school, "check", f"my-class/source/{UNIT}/{UNIT}.ipynb")
    assert f"{UNIT}.ipynb: 10 of 10 points" in said


@pytest.mark.slow
def test_an_installed_wheel_watches_a_script(installation, tmp_path):
    (tmp_path / "train.py").write_text(TRAINER.format(divisor=1))
    done = installation.run(tmp_path, "gradaccum", "watch", "--accumulation-steps", 4, "train.py")
    assert (done.returncode, "no-scale" in done.stdout) == (1, True), done.stdout + done.stderr


@pytest.mark.slow
def test_an_installed_wheel_releases_a_unit_without_its_solutions(school):
    assert "### BEGIN SOLUTION" in (school / f"my-class/source/{UNIT}/{UNIT}.ipynb").read_text()
    released = (school / f"my-class/release/{UNIT}/{UNIT}.ipynb").read_text()
    assert released == (ROOT / "autograder" / "released" / f"{UNIT}.ipynb").read_text()


@pytest.mark.slow
def test_an_installed_wheel_marks_and_reports_a_class(installation, school):
    assert "1 marked" in installation.gradaccum(school, "classroom", "grade", "my-class", "--workers", 1)
    assert "1 student, 1 unit" in installation.gradaccum(school, "classroom", "report", "my-class")
    with (school / "my-class/report.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["student"] for row in rows} == {"ada"}
    assert sum(float(row["score"]) for row in rows) == 10


@pytest.mark.slow
@pytest.mark.parametrize(("sandbox", "all_are_seen"), [("bwrap", False), ("none", True)])
def test_a_submission_in_the_sandbox_cannot_read_the_solutions_of_an_installed_wheel(
    installation, tmp_path, sandbox, all_are_seen
):
    """Without a sandbox it can, which shows that this looks in the right place."""
    (tmp_path / "look.py").write_text(LOOK)
    done = installation.run(tmp_path, "python", "-P", "-c", MARK, sandbox, tmp_path / "look.py")
    assert done.returncode == 0, done.stderr
    solutions = {path.name for path in (ROOT / "solutions").glob("*.py")}
    assert set(json.loads(done.stdout)) & solutions == (solutions if all_are_seen else set())


@pytest.mark.slow
def test_without_extras_a_solved_notebook_runs_and_is_marked(core, tmp_path):
    script = ROOT / "solutions" / "00_start_here.py"
    done = core.run(tmp_path, "python", script)
    assert done.returncode == 0, done.stderr
    shutil.copy(script, tmp_path)
    assert "00_start_here" in core.gradaccum(tmp_path, "check", "00_start_here.py")


@pytest.mark.slow
def test_without_extras_a_script_is_watched(core, tmp_path):
    (tmp_path / "train.py").write_text(TRAINER.format(divisor=4))
    assert "is due" in core.gradaccum(tmp_path, "watch", "--accumulation-steps", 4, "train.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "needs", "extra"),
    [(["lab", "here"], "jupyterlab", "lab"), (["classroom", "init", "here"], "nbgrader", "classroom")],
)
def test_without_extras_a_command_that_needs_one_says_so_in_one_line(core, tmp_path, arguments, needs, extra):
    core.gradaccum(tmp_path, "course", "mine")
    done = core.run(tmp_path, "gradaccum", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"gradaccum {arguments[0]}: this needs ")
    assert needs in line
    assert line.endswith(f"; install with pip install 'gradaccum[{extra}]'")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
