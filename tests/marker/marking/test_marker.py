"""A file is marked whatever its code does, and what one exercise does costs no other."""

from __future__ import annotations

import ast
import json
import os
import time
from pathlib import Path

import pytest

from autograder.contract.observation import Failure, Observation
from autograder.exercises import exercises_of
from autograder.isolation import supervisor
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import ChildError
from autograder.marking.in_process import mark_function, trials_of
from autograder.marking.marker import Marker, mark_file, verdict_on
from autograder.publishing.solution_script import source_notebook, unit_scripts
from autograder.reading.submissions import SubmissionError, read_submission

ROOT = Path(__file__).parents[3]
SCRIPTS = unit_scripts(ROOT / "solutions")
SHORT = Limits(statement=1.0, load=3.0, trial=4.0, grace=1.0, memory=2 * 2**30)

AVERAGE = "def average_gradients(gradients):\n    return sum(gradients) / len(gradients)\n"


def verdicts(marks) -> dict:
    return {verdict.exercise: verdict for verdict in marks.verdicts}


def reason(verdict) -> tuple[str, str]:
    return verdict.failure.kind, verdict.failure.message


def solution(exercise: str) -> str:
    """The source of one function of unit 04's solutions."""
    source = SCRIPTS["04_training_loop"].read_text()
    found = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == exercise)
    return ast.get_source_segment(source, found)


def solved_notebook(unit: str) -> str:
    return json.dumps(source_notebook(SCRIPTS[unit]))


@pytest.mark.slow
@pytest.mark.parametrize("unit", SCRIPTS)
def test_a_solved_notebook_gets_full_marks_on_every_exercise(unit, write):
    marks = mark_file(write(f"{unit}.ipynb", solved_notebook(unit)))
    assert [verdict.exercise for verdict in marks.verdicts if not verdict.passed] == []
    assert marks.score == marks.max_score == sum(exercise.max_score for exercise in exercises_of(unit)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("unit", SCRIPTS)
def test_an_untouched_release_gets_nothing_on_any_exercise(unit):
    marks = mark_file(ROOT / "course" / f"{unit}.ipynb")
    assert {verdict.exercise: verdict.score for verdict in marks.verdicts} == {e.id: 0 for e in exercises_of(unit)}
    assert {verdict.failure.kind for verdict in marks.verdicts} == {"unwritten"}


@pytest.mark.slow
@pytest.mark.parametrize("unit", SCRIPTS)
def test_the_same_functions_are_read_from_a_solution_script_and_from_its_notebook(unit, write):
    script, notebook = map(definitions, (SCRIPTS[unit], write(f"{unit}.ipynb", solved_notebook(unit))))
    assert script == notebook
    assert {exercise.id for exercise in exercises_of(unit)} <= script.keys()


def definitions(file: Path) -> dict[str, str]:
    """The source of each function and class of a submission, by name; the last one counts."""
    nodes = (node for cell in read_submission(file).cells for node in ast.parse(cell.source).body)
    return {node.name: ast.unparse(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.slow
def test_a_file_gets_the_verdicts_of_the_notebook_with_the_same_code(write):
    unit = "03_accumulate"
    file, notebook = map(mark_file, (SCRIPTS[unit], write(f"{unit}.ipynb", solved_notebook(unit))))
    assert file.as_json()["exercises"] == notebook.as_json()["exercises"]


def test_there_are_units_to_test():
    assert len(SCRIPTS) >= 3


@pytest.mark.slow
def test_a_right_function_among_noise_gets_full_marks(write):
    noisy = [
        "import sys, warnings, logging\nprint('x' * 10**6)\nprint('y' * 10**6, file=sys.stderr)",
        "logging.error('z'); warnings.warn('w'); raise SystemExit(3)",
        "this is not Python",
        AVERAGE.replace("    return", "    print('again'); warnings.warn('w')\n    return"),
        "input('your name? ')\nassert False",
    ]
    assert mark_file(write("00_start_here.ipynb", noisy)).score == 1


def test_a_missing_function_gets_no_points_and_the_reason(write):
    marks = mark_file(write("00_start_here.py", "def average_gradients(gradients:\n    return 0\n"))
    missing = "There is no function called average_gradients: in 00_start_here.py, line 1 is not Python ('(' was never closed)."
    assert (marks.score, reason(marks.verdicts[0])) == (0, ("broken", missing))


def test_a_file_of_a_unit_without_exercises_cannot_be_marked(write, monkeypatch):
    monkeypatch.setattr("autograder.marking.marker.exercises_of", lambda unit: [])
    with pytest.raises(SubmissionError, match="has no exercises"):
        mark_file(write("00_start_here.py", AVERAGE))


def test_a_missing_device_is_refused(write):
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        mark_file(write("00_start_here.py", AVERAGE), device="tpu")


@pytest.mark.slow
def test_statements_that_end_the_process_are_skipped(write):
    deadly = ["import os", "os._exit(0)", AVERAGE, "import ctypes; ctypes.string_at(0)"]
    assert mark_file(write("00_start_here.ipynb", deadly)).score == 1


@pytest.mark.slow
def test_a_statement_that_no_signal_reaches_is_skipped(write):
    stuck = "import re; re.match('(a+)+$', 'a' * 60 + 'b')"
    assert mark_file(write("00_start_here.ipynb", [stuck, AVERAGE]), limits=SHORT).score == 1


@pytest.mark.slow
def test_a_submission_full_of_deadly_statements_is_given_up(write):
    deadly = ["import os"] + ["os._exit(1)"] * (supervisor.MAX_SKIPPED + 3) + [AVERAGE]
    marks = mark_file(write("00_start_here.ipynb", deadly))
    assert reason(marks.verdicts[0]) == ("died", "Your code crashed the process it ran in (exit status 1).")


@pytest.fixture(scope="module")
def wild(tmp_path_factory) -> dict:
    """The verdicts on a submission that does a different bad thing in each function."""
    functions = {
        "train_epoch": "os._exit(7)",
        "repaired_early_clear": "bytearray(3 * 2**30)",
        "repaired_eager_step": "while True: pass",
        "repaired_lost_tail": "ctypes.string_at(0)",
    }
    source = "import os, ctypes\n" + "".join(f"def {name}(*args):\n    {body}\n" for name, body in functions.items())
    path = tmp_path_factory.mktemp("wild") / "04_training_loop.py"
    path.write_text(source + solution("name_that_loop") + "\nwhile True: pass\n")
    return verdicts(mark_file(path, limits=SHORT))


@pytest.mark.slow
def test_a_function_that_ends_the_process_costs_only_its_exercise(wild):
    assert reason(wild["train_epoch"]) == ("died", "Your code crashed the process it ran in (exit status 7).")


@pytest.mark.slow
def test_a_function_that_crashes_the_process_costs_only_its_exercise(wild):
    assert reason(wild["repaired_lost_tail"]) == ("died", "Your code crashed the process it ran in (SIGSEGV).")


@pytest.mark.slow
def test_a_function_that_takes_all_memory_costs_only_its_exercise(wild):
    assert reason(wild["repaired_early_clear"]) == ("raised", "Your code raised MemoryError (line 2 of repaired_early_clear).")


@pytest.mark.slow
def test_an_endless_function_costs_only_its_exercise(wild):
    kind, message = reason(wild["repaired_eager_step"])
    assert kind == "time"
    assert "still running after 4 seconds" in message


@pytest.mark.slow
def test_the_right_function_among_wild_ones_keeps_its_points(wild):
    assert wild["name_that_loop"].passed


@pytest.mark.slow
def test_a_function_that_no_signal_reaches_is_stopped_from_outside(write):
    stuck = "import re\ndef train_epoch(*args):\n    re.match('(a+)+$', 'a' * 60 + 'b')\n"
    path = write("04_training_loop.py", stuck + solution("name_that_loop"))
    found = verdicts(mark_file(path, limits=Limits(trial=0.3, grace=1.0)))
    assert found["train_epoch"].failure.kind == "time"
    assert found["name_that_loop"].passed


@pytest.mark.slow
def test_an_exercise_is_not_blamed_for_what_an_earlier_one_left_running(write):
    bomb = """
import os, threading, time
def train_epoch(*args):
    threading.Thread(target=lambda: (time.sleep(0.5), os._exit(9))).start()
    return []
def repaired_early_clear(*args):
    time.sleep(0.3)
    return mended(*args)
"""
    mended = solution("repaired_early_clear").replace("repaired_early_clear", "mended")
    found = verdicts(mark_file(write("04_training_loop.py", bomb + mended)))
    assert found["repaired_early_clear"].passed


@pytest.mark.slow
def test_processes_that_a_submission_leaves_behind_are_ended(write, tmp_path):
    left = "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n"
    left += f"open({str(tmp_path / 'pid')!r}, 'w').write(str(supervisor.pid))\n"
    assert mark_file(write("00_start_here.py", left + AVERAGE)).score == 1
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/status")
    deadline = time.monotonic() + 60
    while (left := _is_running(status)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _is_running(status: Path) -> bool:
    try:
        return "State:\tZ" not in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_a_copy_that_a_submission_makes_of_its_process_marks_nothing(write, tmp_path):
    copied = f"import os\nos.fork()\nopen({str(tmp_path)!r} + '/log', 'a').write('x')\n"
    assert mark_file(write("00_start_here.py", copied + AVERAGE)).score == 1


@pytest.mark.slow
def test_helper_files_next_to_the_submission_are_found_and_shadow_nothing(write):
    write("helper.py", AVERAGE)
    write("json.py", "raise RuntimeError")
    write("torch.py", "raise RuntimeError")
    path = write("00_start_here.py", "import json, torch\nfrom helper import average_gradients\n")
    assert mark_file(path).score == 1


def test_functions_can_use_classes_by_name_as_in_a_program(write):
    by_name = "import pickle\nclass Box: pass\n" + AVERAGE.replace(
        "    return", "    pickle.loads(pickle.dumps(Box()))\n    return"
    )
    assert mark_file(write("00_start_here.py", by_name)).score == 1


def test_marks_are_judged_here_and_not_where_the_submission_runs(write):
    forger = (
        "import autograder.contract.exercise\nautograder.exercise.Verdict.score = 100.0\ndef average_gradients(g): return g[0]"
    )
    assert mark_file(write("00_start_here.py", forger)).score == 0


@pytest.mark.slow
def test_the_seed_chooses_the_problems(write, tmp_path):
    spy = f"def average_gradients(g):\n    open({str(tmp_path / 'seen')!r}, 'a').write(repr(g[0].tolist()))\n    return g[0]"
    seen = []
    for seed in (1, 1, 2):
        mark_file(write("00_start_here.py", spy), seed=seed)
        seen.append((tmp_path / "seen").read_text())
        (tmp_path / "seen").unlink()
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.slow
def test_the_same_submission_gets_the_same_marks_every_time(write):
    chancy = """
import random, torch, numpy
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for x, y in micro_batches:
        if hash("a") % 2 + random.random() + torch.rand(()).item() + numpy.random.rand() > 1.5:
            continue
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    return losses
"""
    path = write("04_training_loop.py", chancy)
    texts = {"\n".join(map(str, mark_file(path, seed=5).verdicts)) for _ in range(4)}
    assert len(texts) == 1


@pytest.mark.slow
def test_marking_in_another_process_gives_the_verdict_of_marking_here(write):
    source = """
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for k, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y)
        loss.backward()
        losses.append(float("nan"))
        if k % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    return losses
"""
    namespace: dict = {}
    exec(source, namespace)
    exercise = next(one for one in exercises_of("04_training_loop") if one.id == "train_epoch")
    here = mark_function(exercise, namespace["train_epoch"], seed=3)
    there = verdicts(mark_file(write("04_training_loop.py", source), seed=3))["train_epoch"]
    assert str(there) == str(here)
    assert [mistake.slug for mistake in here.mistakes][:1] == ["no-scale"]


def test_observations_that_make_no_sense_get_no_points():
    (exercise,) = exercises_of("00_start_here")
    trials = trials_of(exercise, 0)
    assert verdict_on(exercise, trials, Failure("died", "gone")).score == 0
    nonsense = dict.fromkeys(trials, Observation(facts={"value": "nonsense"}))
    assert verdict_on(exercise, trials, nonsense).failure.kind == "misfit"


def test_a_fork_server_that_cannot_start_is_an_error_of_the_marker(write, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(ChildError, match="did not start"), Marker() as marker:
        marker.mark(read_submission(write("00_start_here.py", AVERAGE)))


@pytest.mark.parametrize("noted", ["[]", "{", '"full', '"passed"', "true", "1.5", '["full", 1]', "[" * 100000, "1" * 5000])
def test_progress_that_makes_no_sense_is_not_believed(noted):
    assert supervisor._progress(noted.encode(), {"train_epoch": ["full"]}) is None


@pytest.mark.parametrize("noted", ['"ready"', '"finished"', "0", "17", '["train_epoch", "full"]'])
def test_progress_that_makes_sense_is_believed(noted):
    assert json.dumps(supervisor._progress(noted.encode(), {"train_epoch": ["full"]})) == noted


FULL, OTHER = ("train_epoch", "full"), ("name_that_loop", "answers")


@pytest.mark.parametrize(
    ("last", "noted", "blamed"),
    [
        ("ready", 3, 3),
        (3, 2, 2),
        (3, FULL, FULL),
        (FULL, OTHER, OTHER),
        (FULL, 3, FULL),
        (3, "ready", 3),
        (FULL, "finished", FULL),
    ],
)
def test_a_late_progress_report_cannot_shift_the_blame_to_something_earlier(last, noted, blamed):
    assert supervisor._later(last, noted) == blamed


@pytest.mark.slow
def test_nothing_is_left_in_the_temporary_folder(write, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    os.mkdir(tmp_path / "tmp")
    mark_file(write("00_start_here.py", AVERAGE))
    assert os.listdir(tmp_path / "tmp") == []
