"""The guides do what they say: their commands are run as they stand there, and print what is shown."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from documents import lines_in_blocks, shell_lines
from warm_python import warm_programs

from autograder.publishing.nbgrader_course import SOLUTIONS, notebook_text

pytestmark = pytest.mark.slow

UNIT = "03_accumulate"
NEEDS_MORE = "# needs "
SUMS = Path(__file__).parents[1] / "submissions" / UNIT / "mistakes" / "no_scale.py"
WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Last modified (submission)
Participant 12345,Ada Lovelace,ada@example.org,Submitted for grading,,"Sunday, 22 November 2026, 6:30 PM"
Participant 12346,Bob Noyce,bob@example.org,Submitted for grading,,"Sunday, 22 November 2026, 6:45 PM"
Participant 12347,Eve Adams,eve@example.org,No submission,,-
"""


def download(folder: Path) -> Path:
    """What Moodle gives for the class of the guide: Ada has everything right, Bob forgets to divide, Eve hands nothing in."""
    right = notebook_text(SOLUTIONS / f"{UNIT}.py")
    wrong = json.loads(right)
    (written,) = (cell for cell in wrong["cells"] if cell["id"] == "accumulate_gradient-solution")
    written["source"] = SUMS.read_text(encoding="utf-8")
    with zipfile.ZipFile(folder / "moodle.zip", "w") as archive:
        for name, text in {"Ada Lovelace_12345": right, "Bob Noyce_12346": json.dumps(wrong)}.items():
            archive.writestr(f"{name}_assignsubmission_file/{UNIT}.ipynb", text)
    (folder / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")
    return folder / "moodle.zip"


def follow(lines: list[str], folder: Path) -> str:
    """Run commands as one script in a folder that is home as well; what they print."""
    places = [warm_programs(folder / "bin", "gradaccum", "nbgrader"), Path(sys.executable).parent, os.environ["PATH"]]
    environment = os.environ | {
        "PATH": os.pathsep.join(map(str, places)),
        "HOME": str(folder),
        "JUPYTER_DATA_DIR": str(folder / "jupyter"),
        "OMP_NUM_THREADS": "1",
    }
    command = ["bash", "-euxo", "pipefail", "-c", "\n".join(lines)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def lines_to_run(page: str) -> list[str]:
    """The commands of a page, but for those that need more than this machine has."""
    return [line for line in shell_lines(page) if NEEDS_MORE not in line]


def not_said(page: str, said: str) -> list[str]:
    """Lines of output in a page that were not printed."""
    shown, printed = lines_in_blocks(page), {line.strip() for line in said.splitlines()}
    assert len(shown) >= 5
    return [line for line in shown if line.strip() not in printed]


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Path:
    """The folder in which all commands of the guide have been run, but for those that need more than this machine has."""
    folder = tmp_path_factory.mktemp("guide")
    download(folder)
    said = follow(lines_to_run("instructors.md"), folder)
    (folder / "said.txt").write_text(said, encoding="utf-8")
    return folder


def test_the_marks_are_in_the_gradebook_and_in_what_is_exported(followed):
    with (followed / "my-class/moodle.csv").open(encoding="utf-8-sig", newline="") as file:
        marks = {row["Username"]: row[f"Assignment: {UNIT} (Real)"] for row in csv.DictReader(file)}
    assert marks == {"ada": "10", "bob": "4", "eve": ""}


def test_the_feedback_names_the_mistake(followed):
    pages = {path.parts[-3]: path.read_text(encoding="utf-8") for path in (followed / "my-class/feedback").rglob("*.html")}
    assert pages.keys() == {"ada", "bob"}
    assert "accumulate_gradient: 0 of 6 points" in pages["bob"]
    assert "accumulate_gradient: 6 of 6 points, right" in pages["ada"]


def test_the_report_is_there(followed):
    assert "no-scale" in (followed / "my-class/report.html").read_text(encoding="utf-8")


def test_what_the_guide_shows_as_output_is_what_its_commands_print(followed):
    assert not_said("instructors.md", (followed / "said.txt").read_text(encoding="utf-8")) == []


def test_the_marks_that_the_guide_for_students_shows_are_those_of_the_submission(followed, tmp_path):
    shutil.copy(followed / f"my-class/submitted/bob/{UNIT}/{UNIT}.ipynb", tmp_path)
    assert not_said("students.md", follow(lines_to_run("students.md"), tmp_path)) == []
