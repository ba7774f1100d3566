"""A fault of the marker leaves an exercise unmarked: no points are lost, and whoever marks is told."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import FunctionType

import pytest
import torch

from autograder.cli import main
from autograder.desk import results
from autograder.desk.check import check
from autograder.exercises import observers_of
from autograder.exercises.unit_00_start_here.exercises import AverageGradients
from autograder.hosts import github_classroom
from autograder.hosts.gradescope import results as gradescope_results
from autograder.marking import in_process
from autograder.marking.marked_notebook import mark
from autograder.marking.marker import mark_file, shared_marker
from autograder.publishing.solution_script import source_notebook, unit_scripts
from autograder.showing.verdict_html import as_html, mimebundle

pytestmark = pytest.mark.slow

SOLUTIONS = Path(__file__).parents[3] / "solutions"
MEAN = "def average_gradients(gradients):\n    return sum(gradients) / len(gradients)\n"


def average_gradients(gradients):
    return sum(gradients) / len(gradients)


def fails(*_):
    raise ZeroDivisionError("a number of a hidden problem: 0.12345")


@pytest.fixture
def broken_judge(monkeypatch, tmp_path):
    """Unit 00 has a judge that raises; the log is in a folder of the test's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(AverageGradients, "judge", fails)
    return tmp_path / ".gradaccum" / "marker-errors.log"


def test_check_says_that_the_marker_failed_and_where_the_traceback_is(broken_judge):
    verdict = check(average_gradients)
    assert (verdict.score, verdict.max_score, verdict.passed) == (None, 1, False)
    for said in (str(verdict), as_html(verdict)):
        assert "unmarked" in said
        assert "ZeroDivisionError" in said
        assert "not yours. Please report it" in said
        assert str(broken_judge) in said
        assert "0.12345" not in said
    assert "0.12345" in broken_judge.read_text()
    assert "0 of 1" not in str(verdict)


def test_check_remembers_nothing_of_an_unmarked_exercise(broken_judge, monkeypatch, tmp_path):
    monkeypatch.setenv("GRADACCUM_RESULTS", str(tmp_path / "results.json"))
    results.remember(check(average_gradients))
    assert results.results() == {}


def test_stock_nbgrader_is_shown_nothing_that_it_takes_for_points(broken_judge, monkeypatch):
    monkeypatch.setattr("autograder.showing.verdict_html._in_kernel", lambda: True)
    assert "unmarked" in mimebundle(check(average_gradients))["text/plain"]


@pytest.mark.parametrize(("step", "ends"), [("autograde", [1]), ("validate", [])])
def test_check_ends_the_kernel_where_stock_nbgrader_grades_and_raises_where_it_validates(broken_judge, monkeypatch, step, ends):
    ended = []
    monkeypatch.setenv("NBGRADER_EXECUTION", step)
    monkeypatch.setattr("os._exit", ended.append)
    with pytest.raises(RuntimeError, match="The marker failed"):
        check(average_gradients)
    assert ended == ends


def test_command_line_gives_null_and_a_reason_and_names_the_log(broken_judge, write, capsys):
    with pytest.raises(SystemExit) as end:
        main(["check", str(write("00_start_here.py", MEAN)), "--json", "--device", "cpu"])
    printed = capsys.readouterr()
    (marked,) = json.loads(printed.out)["files"]
    (exercise,) = marked["exercises"]
    assert end.value.code == 3
    assert (marked["score"], exercise["score"], exercise["passed"]) == (None, None, None)
    assert "The marker failed" in exercise["reason"]
    assert printed.err.count("\n") == 1
    assert "average_gradients is unmarked: the marker failed (ZeroDivisionError in " in printed.err
    assert f"see {broken_judge}" in printed.err
    assert "Traceback" in broken_judge.read_text()


def test_table_of_marks_and_gradescope_show_no_zero(broken_judge, write, capsys, tmp_path):
    file = tmp_path / "results.json"
    file.write_text("of an earlier run")
    with pytest.raises(SystemExit) as end:
        main(["check", str(write("00_start_here.py", MEAN)), "--device", "cpu", "--gradescope", str(file)])
    printed = capsys.readouterr()
    assert end.value.code == 3
    assert "unmarked" in printed.out
    assert "–/1" in printed.out
    assert "0/1" not in printed.out
    assert "Traceback" in printed.err
    assert not file.exists()


def test_github_classroom_is_given_no_result(broken_judge, write, monkeypatch, tmp_path):
    marks = mark_file(write("00_start_here.py", MEAN))
    assert gradescope_results(marks) is None
    printed = tmp_path / "marks.json"
    printed.write_text(json.dumps({"files": [marks.as_json()]}))
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with pytest.raises(ValueError, match="average_gradients unmarked by a fault of the marker"):
        github_classroom.main([str(printed)])
    assert "unmarked" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert not (tmp_path / "GITHUB_OUTPUT").exists()


def test_unmarked_exercise_has_no_output_that_nbgrader_takes_for_points(broken_judge):
    notebook = json.dumps(source_notebook(unit_scripts(SOLUTIONS)["00_start_here"])).encode()
    marked = mark(notebook, "00_start_here", marker=shared_marker("none", "cpu"))
    assert marked.marks.score is None
    outputs = [output for cell in marked.notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("unmarked" in output.get("data", {}).get("text/plain", "") for output in outputs)
    assert not any(output.output_type == "execute_result" for output in outputs)


def test_failure_to_make_trials_leaves_the_exercise_unmarked(broken_judge, monkeypatch, write):
    monkeypatch.setattr(AverageGradients, "trials", fails)
    assert check(average_gradients).score is None
    assert mark_file(write("00_start_here.py", MEAN)).score is None


def test_failure_outside_of_judging_leaves_the_whole_file_unmarked(monkeypatch, write):
    monkeypatch.setattr("autograder.marking.marker.observe_in_fork", fails)
    marks = mark_file(write("00_start_here.py", MEAN))
    assert marks.score is None
    assert "ZeroDivisionError" in marks.faults["average_gradients"].reason


def test_failure_to_read_one_file_does_not_stop_the_marking_of_others(monkeypatch, write, capsys, tmp_path):
    from autograder.reading.submissions import read_submission

    monkeypatch.setenv("HOME", str(tmp_path))
    good, bad = write("00_start_here.py", MEAN), write("04_training_loop.py", MEAN)
    monkeypatch.setattr("autograder.cli.read_submission", lambda file, *rest: fails() if file == bad else read_submission(file))
    with pytest.raises(SystemExit) as end:
        main(["check", str(bad), str(good), "--json", "--device", "cpu"])
    printed = capsys.readouterr()
    assert end.value.code == 3
    assert [marked["score"] for marked in json.loads(printed.out)["files"]] == [1.0]
    assert "04_training_loop.py: the marker failed (ZeroDivisionError" in printed.err


def test_judging_that_takes_too_long_is_ended_and_leaves_the_exercise_unmarked(broken_judge, monkeypatch):
    def endless(*_):
        while True:
            time.sleep(0.001)

    monkeypatch.setattr(AverageGradients, "judge", endless)
    monkeypatch.setattr(in_process, "JUDGING_SECONDS", 0.05)
    assert "TimeBoundError" in check(average_gradients).fault.reason


def test_judging_that_takes_too_much_memory_leaves_the_exercise_unmarked(broken_judge, monkeypatch):
    monkeypatch.setattr(AverageGradients, "judge", lambda *_: torch.zeros(2**30))
    assert check(average_gradients).score is None
    assert torch.zeros(2**20).sum() == 0


def observer_that_fails(error):
    def observe(function, trial):
        raise error

    code = observe.__code__.replace(co_filename=str(Path(in_process.__file__).with_name("observer.py")))
    return FunctionType(code, observe.__globals__, "observe", closure=observe.__closure__)


@pytest.mark.parametrize("error", [NameError("0.12345"), AssertionError(), ImportError("no module")], ids=repr)
def test_error_of_what_observes_a_function_leaves_the_exercise_unmarked(error, monkeypatch):
    monkeypatch.setitem(observers_of("00_start_here"), "average_gradients", observer_that_fails(error))
    verdict = in_process.mark_function(AverageGradients(), average_gradients)
    assert verdict.score is None
    assert verdict.fault.reason.startswith(f"{type(error).__name__} in observer.py, line ")
    assert "student_calls.py" in verdict.fault.traceback
    assert "0.12345" not in str(verdict)


def test_error_that_a_returned_value_may_have_brought_about_is_the_functions(monkeypatch):
    for error in (TypeError(), AttributeError(), KeyError(), ValueError()):
        monkeypatch.setitem(observers_of("00_start_here"), "average_gradients", observer_that_fails(error))
        assert in_process.mark_function(AverageGradients(), average_gradients).score == 0


def test_error_of_a_function_is_its_own_whatever_its_type():
    def raises(gradients):
        return undefined  # noqa: F821

    def asserts(gradients):
        raise AssertionError

    assert [in_process.mark_function(AverageGradients(), one).score for one in (raises, asserts)] == [0, 0]


def test_submission_that_pretends_that_its_observer_failed_has_no_points(write):
    source = "import autograder.exercises.unit_00_start_here.observing as observing\n" + MEAN
    broken = source.replace("    return", "    vars(observing).pop('Observation', None)\n    return")
    (verdict,) = mark_file(write("00_start_here.py", broken)).verdicts
    assert verdict.score is None
    assert "NameError" in verdict.fault.reason
