"""Watching from a script, from a test, from a notebook; with a sentence for whatever is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import gradaccum
from gradaccum.watching.script import watch_script

ROOT = Path(__file__).parents[3]

SCRIPT = """
import sys
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters())
print("arguments", sys.argv[1:])
for k in range(8):
    loss = torch.nn.functional.mse_loss(model(torch.ones(3, 4)), torch.zeros(3, 2)) / DIVISOR
    loss.backward()
    if k % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
END
"""


@pytest.fixture
def script(tmp_path):
    def write(divisor: int = 4, end: str = "") -> Path:
        path = tmp_path / "train.py"
        path.write_text(SCRIPT.replace("DIVISOR", str(divisor)).replace("END", end))
        return path

    return write


def run(path, *arguments, as_json=False):
    return watch_script(path, arguments, accumulation_steps=4, updates=None, as_json=as_json)


def test_script_gets_its_arguments_and_a_status_by_outcome(script, capsys):
    assert run(script(), "--epochs", "1") == 0
    assert "arguments ['--epochs', '1']" in capsys.readouterr().out
    assert run(script(divisor=1)) == 1
    assert "no-scale" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("end", "status"), [("sys.exit(5)", 5), ("sys.exit('no data')", 1), ("raise ValueError('no data')", 1), ("sys.exit()", 0)]
)
def test_failure_of_a_script_is_passed_on_and_its_updates_are_reported(script, capsys, end, status):
    assert run(script(end=end)) == status
    printed = capsys.readouterr()
    assert "2 updates, 8 backward passes" in printed.out
    assert ("no data" in printed.err) == ("no data" in end)
    assert (f"ended with status {status}" in printed.err) == (status != 0)


def test_json_is_all_there_is_on_stdout(script, capsys):
    assert run(script(divisor=1), as_json=True) == 1
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert (report["outcome"], report["mistakes"][0]["slug"]) == ("not due", "no-scale")
    assert report["matrices"][0]["found"][0] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert "arguments" in printed.err


def test_script_without_an_update_cannot_be_told(tmp_path, capsys):
    (tmp_path / "idle.py").write_text("print('nothing')")
    assert run(tmp_path / "idle.py") == 3
    assert "No backward was seen" in capsys.readouterr().out


def test_model_of_a_script_is_found_with_its_names(script, capsys):
    run(script(end="del model"), as_json=True)
    assert json.loads(capsys.readouterr().out)["matrices"][0]["parameters"] == "weight, bias"


@pytest.mark.slow
def test_command_watches_a_script(script):
    command = "from autograder.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "watch", "--accumulation-steps", "4", script(divisor=1), "--json"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, "arguments ['--json']" in done.stdout) == (1, True)


def test_missing_script_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.py: there is no such script"):
        run(tmp_path / "gone.py")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.nn.Linear(1, 1), 0), "accumulation_steps must be a whole number from 1 on, not 0"),
        ((torch.nn.Linear(1, 1), 2.0), "accumulation_steps must be a whole number from 1 on, not 2.0"),
        ((torch.nn.Linear(1, 1), 2, -1), "updates must be a whole number from 1 on, not -1"),
        ((["weight"],), "model is a torch.nn.Module, or the parameters to watch"),
        ((torch.nn.Linear(1, 1), None, None, len), "give a torch.nn.Module, or a function its module holds by name"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_and_leave_torch_as_it_was(arguments, message):
    backward = torch.autograd.backward
    with pytest.raises((TypeError, ValueError), match=message), gradaccum.watch(*arguments):
        pass
    assert torch.autograd.backward is backward


def train(model, divisor, steps=8):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for k in range(steps):
        (torch.nn.functional.mse_loss(model(torch.ones(3, 4)), torch.zeros(3, 2)) / divisor).backward()
        if k % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def test_fixture_fails_a_test_whose_trainer_is_not_due(due_updates):
    model = torch.nn.Linear(4, 2)
    with due_updates(model, accumulation_steps=4):
        train(model, 4)
    with pytest.raises(AssertionError, match="no-scale"), due_updates(model, accumulation_steps=4):
        train(model, 1)


@pytest.mark.slow
def test_example_of_a_regression_test_passes():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "examples" / "watch" / "test_accumulation.py"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_watching_stops_after_as_many_updates_as_were_asked_for():
    model = torch.nn.Linear(4, 2)
    with gradaccum.watch(model, accumulation_steps=4, updates=1) as seen:
        train(model, 4)
    assert len(seen.fingerprint.coefficients) == 1
    assert seen.outcome == "due"


def test_everything_is_as_it_was_when_watching_ends():
    before = torch.autograd.backward, torch.autograd.grad, torch.utils.data.DataLoader.__iter__
    model = torch.nn.Linear(4, 2)
    watched = gradaccum.watch(model)
    seen = watched.__enter__()
    train(model, 4)
    assert not watched.__exit__(KeyError, KeyError("the trainer's own"), None)
    assert (torch.autograd.backward, torch.autograd.grad, torch.utils.data.DataLoader.__iter__) == before
    assert not model._forward_pre_hooks
    assert "2 updates" in str(seen)


@pytest.mark.slow
def test_loss_that_is_pointed_out_counts_what_it_is_said_to_count():
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with gradaccum.watch(model, accumulation_steps=2) as seen:
        for count in (3, 5):
            loss = torch.compile(lambda x: (model(x) ** 2).exp().log().mean(), backend="eager")(torch.ones(count, 4))
            gradaccum.loss_seen(loss, count)
            (loss * count / 8).backward()
        optimizer.step()
    assert seen.due.coefficients.tolist() == [[3 / 8, 5 / 8]]
    assert seen.outcome == "due", str(seen)


def test_notebook_shows_found_beside_due_and_needs_no_script():
    model = torch.nn.Linear(4, 2)
    with gradaccum.watch(model, accumulation_steps=4) as seen:
        train(model, 1)
    html = seen._repr_html_()
    assert "no-scale" in html
    assert html.count("<table") == 2
    assert "<script" not in html
