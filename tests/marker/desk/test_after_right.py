"""Once an exercise has all its points, a notebook shows the student's fingerprint and two model answers below the verdict."""

from __future__ import annotations

import re

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from autograder.desk.after_right import after_right
from autograder.exercises import all_exercises, pictures_of

RIGHT = """
from autograder.check import check

def average_gradients(gradients):
    return sum(gradients) / len(gradients)
"""
WRONG = RIGHT.replace(" / len(gradients)", "")
PARTLY_RIGHT = """
from autograder.check import check

def name_that_loop():
    return {"A": "never-zero", "B": "off-by-one-early", "C": "no-scale", "D": "zero-every", "E": "right", "F": "right"}
"""


@pytest.fixture
def shown(monkeypatch, tmp_path):
    """Runs a cell and returns what is displayed below its value, as HTML."""
    monkeypatch.setenv("GRADACCUM_RESULTS", str(tmp_path / "results.json"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell.instance()
    published = CapturingDisplayPublisher()
    monkeypatch.setattr(shell, "display_pub", published)

    def shown(source: str) -> list[str]:
        published.outputs.clear()
        shell.run_cell(source).raise_error()
        return [output["data"].get("text/html", "") for output in published.outputs]

    yield shown
    InteractiveShell.clear_instance()


def test_a_right_function_is_followed_by_two_model_answers(shown):
    (html,) = shown(f"{RIGHT}check(average_gradients)")
    for line in ("return torch.stack(gradients).mean(0)", "mean += (gradient - mean) / count"):
        assert line in html


def test_model_answers_are_folded_until_they_are_opened(shown):
    (html,) = shown(f"{RIGHT}check(average_gradients)")
    assert "<details><summary" in html
    assert "<details open" not in html


@pytest.mark.parametrize(("written", "call"), [(WRONG, "check(average_gradients)"), (PARTLY_RIGHT, "check(name_that_loop)")])
def test_nothing_follows_a_verdict_without_all_points(shown, written, call):
    assert shown(f"{written}{call}") == []


def test_the_cells_after_a_right_function_show_nothing_more(shown):
    shown(f"{RIGHT}check(average_gradients)")
    assert shown("1 + 1") == []


def test_nothing_follows_where_nbgrader_runs_the_notebook(shown, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert shown(f"{RIGHT}check(average_gradients)") == []


def test_model_answers_come_after_the_verdict(shown, monkeypatch):
    """So that the verdict does not wait until the fingerprint is drawn."""
    order = []
    monkeypatch.setattr("autograder.desk.after_right.after_right", lambda exercise, function: order.append("answers"))
    write = "write_format_data", lambda *arguments: order.append("verdict")
    monkeypatch.setattr(InteractiveShell.instance().displayhook, *write)
    shown(f"{RIGHT}check(average_gradients)")
    assert order == ["verdict", "answers"]


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """A right loop that knows no more than it needs."""
    batches, losses = list(micro_batches), []
    for start in range(0, len(batches), accumulation_steps):
        window = batches[start : start + accumulation_steps]
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        parts = [loss_fn(model(x), y) * len(x) / samples for x, y in window]
        sum(parts).backward()
        optimizer.step()
        losses.append(sum(parts).item())
    return losses


def test_a_training_loop_is_shown_with_its_own_fingerprint():
    after = after_right(all_exercises()["train_epoch"], train_epoch)
    assert "train_epoch makes 3 updates" in after.picture.caption
    assert "train_epoch: update 1 holds 1/4 of micro-batches 1 to 4;" in after.picture.alt
    assert after.picture.alt.endswith("update 3 holds 2/3 of micro-batch 9, 1/3 of micro-batch 10.")
    assert re.search(r"<img [^>]*alt=", after._repr_mimebundle_()["text/html"])


def test_the_fingerprint_is_that_of_the_loop_itself_and_not_of_a_right_one():
    def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for x, y in micro_batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()

    after = after_right(all_exercises()["train_epoch"], train_epoch)
    assert "train_epoch: update 1 holds 1 of micro-batch 1; update 2 holds 1 of micro-batch 2;" in after.picture.alt


def test_a_loop_that_fails_on_the_data_of_the_picture_still_has_model_answers():
    def train_epoch(*arguments):
        raise ArithmeticError("not these data")

    html = after_right(all_exercises()["train_epoch"], train_epoch)._repr_mimebundle_()["text/html"]
    assert "Its fingerprint could not be drawn: ArithmeticError: not these data" in html
    assert "Answer 2." in html


def test_a_function_that_is_no_loop_has_no_fingerprint():
    assert after_right(all_exercises()["same_update"], lambda a, b: True).picture is None


LOOPS = [name for exercise in all_exercises().values() for name in pictures_of(exercise.unit) if name == exercise.id]


def test_every_training_loop_of_the_course_has_a_picture():
    named = [e for e in all_exercises() if e.startswith(("train", "repaired", "ddp_train", "Repaired", "accumulate_gradient"))]
    assert named == LOOPS
