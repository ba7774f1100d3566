"""The GitHub workflow of the example marks a notebook and reports points per exercise as GitHub Classroom reads them."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.hosts.github_classroom import main, reporter_result, summary

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / "examples/github-classroom/.github/workflows/grade.yml"
RIGHT = {"id": "name_that_loop", "score": 2.0, "max_score": 2.0, "passed": True, "mistakes": []}
MISTAKE = {"slug": "no-scale", "message": "It adds up | sums."}
WRONG = {"id": "train_epoch", "score": 4.5, "max_score": 6.0, "passed": False, "mistakes": [MISTAKE]}
MARKED = {"unit": "04_training_loop", "score": 6.5, "max_score": 8.0, "exercises": [WRONG, RIGHT]}


def test_the_reporter_gets_partial_points_of_each_exercise():
    document = reporter_result(MARKED)
    assert {name: document[name] for name in ("version", "status", "max_score")} == {
        "version": 1,
        "status": "fail",
        "max_score": 8.0,
    }
    assert [(test["name"], test["status"], test["score"], test["message"]) for test in document["tests"]] == [
        ("train_epoch", "fail", 4.5, "4.5 of 6 points. It adds up | sums."),
        ("name_that_loop", "pass", 2.0, "2 of 2 points."),
    ]


def test_the_table_on_the_page_of_a_run_says_what_each_exercise_does():
    assert summary(MARKED).splitlines() == [
        "### 04_training_loop: 6.5 of 8 points",
        "",
        "| | exercise | points | what it does |",
        "|---|---|---|---|",
        "| ❌ | `train_epoch` | 4.5/6 | It adds up \\| sums. |",
        "| ✅ | `name_that_loop` | 2/2 | right |",
    ]


def test_marks_of_another_number_of_files_are_refused(tmp_path):
    (tmp_path / "marks.json").write_text('{"files": []}')
    with pytest.raises(ValueError, match="holds the marks of 0 files"):
        main([str(tmp_path / "marks.json")])


@pytest.fixture(scope="module")
def workflow() -> dict:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def _step(workflow: dict, name: str) -> dict:
    (step,) = [step for step in workflow["jobs"]["run-autograding-tests"]["steps"] if step.get("name") == name]
    return step


def test_the_workflow_has_the_shape_github_classroom_expects(workflow):
    job = workflow["jobs"].pop("run-autograding-tests")
    assert (workflow["name"], workflow["on"], workflow["jobs"]) == ("Autograding Tests", ["push", "repository_dispatch"], {})
    assert workflow["permissions"] == {"actions": "read", "checks": "write", "contents": "read"}
    workflow["jobs"]["run-autograding-tests"] = job
    assert "name" not in job  # the reporter looks for a job called as its id
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    reporter = _step(workflow, "Report to GitHub Classroom")
    (runner,) = reporter["with"]["runners"].split(",")
    assert reporter["env"] == {f"{runner.upper()}_RESULTS": f"${{{{ steps.{runner}.outputs.result }}}}"}
    assert runner in [step.get("id") for step in job["steps"]]


def test_the_workflow_installs_the_course_with_its_pins(workflow):
    command = _step(workflow, "Install the course")["run"].split()
    assert command[:2] == ["pip", "install"]
    pins = Path(command[command.index("-c") + 1])
    assert (pins.parts[0], (ROOT / pins.relative_to("course")).is_file()) == ("course", True)
    checkouts = [
        step["with"] for step in workflow["jobs"]["run-autograding-tests"]["steps"] if "checkout" in step.get("uses", "")
    ]
    assert [one["path"] for one in checkouts] == ["submission", "course"]
    assert not any(one["persist-credentials"] for one in checkouts)


@pytest.mark.slow
def test_the_steps_of_the_workflow_mark_a_submission(workflow, tmp_path, write):
    write("submission/00_start_here.ipynb", ["def average_gradients(gradients):\n    return sum(gradients)\n"])
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = os.environ | workflow["env"] | {name: str(path) for name, path in files.items()}
    environment |= {"UNIT": "00_start_here", "SEED": "", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for step in ("Mark", "Points of each exercise"):
        command = ["bash", "-e", "-c", _step(workflow, step)["run"]]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    encoded = files["GITHUB_OUTPUT"].read_text().removeprefix("result=")
    document = json.loads(base64.b64decode(encoded))
    assert [(test["name"], test["status"], test["score"]) for test in document["tests"]] == [("average_gradients", "fail", 0.0)]
    assert "| ❌ | `average_gradients` | 0/1 |" in files["GITHUB_STEP_SUMMARY"].read_text()


@pytest.mark.slow
def test_a_submission_that_cannot_be_marked_fails_the_step_with_the_reason(workflow, tmp_path):
    environment = os.environ | {
        "UNIT": "00_start_here",
        "SEED": "3",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["bash", "-e", "-c", _step(workflow, "Mark")["run"]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("gradaccum check: submission/00_start_here.ipynb: there is no such file")
