"""``pytest --grade``: every exercise of a submission is a test, and ordinary runs do not notice."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot

from autograder.exercises import all_exercises
from autograder.marking.marker import shared_marker

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
COMMANDS = {"pytest": ["-P", "-m", "pytest"], "python -m pytest": ["-m", "pytest"]}
"""Options of Python. With ``-P`` the folder it is run in is not looked into for modules, as by the command ``pytest``."""

MEAN = "def average_gradients(gradients):\n    return sum(gradients) / len(gradients)\n"
SUM = "def average_gradients(gradients):\n    return sum(gradients)\n"
STEP_EVERY = """
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    print("noise")
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()
    return []
"""


@pytest.fixture(autouse=True, scope="module")
def imported_and_started_once():
    """What is first imported in a run of pytester is forgotten after it, and so would be the process that marks."""
    all_exercises()
    shared_marker("none", "cpu")


@pytest.fixture
def grade(pytester):
    """Run pytest in this process on files in a folder of its own."""

    def grade(*arguments: str, **files: str | bytes) -> pytest.RunResult:
        for name, content in files.items():
            path = pytester.path / f"{name}.py"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    return grade


def test_every_exercise_is_a_test_named_after_it(grade):
    done = grade("--grade", "04_training_loop.py", "--collect-only", "-q", **{"04_training_loop": STEP_EVERY})
    names = ["repaired_early_clear", "repaired_eager_step", "repaired_lost_tail", "train_epoch", "name_that_loop"]
    done.stdout.fnmatch_lines([f"04_training_loop.py::{name}" for name in names])
    assert done.ret == 0


def test_a_right_function_passes(grade):
    done = grade("--grade", "00_start_here.py", **{"00_start_here": MEAN})
    done.assert_outcomes(passed=1)
    lines = ["collected 1 item", "00_start_here.py .*", "00_start_here.py: 1 of 1 points, marked on *"]
    done.stdout.fnmatch_lines(lines)


def test_a_wrong_function_fails_with_its_verdict_and_no_traceback(grade):
    done = grade("--grade", "04_training_loop.py", "-k", "train_epoch", **{"04_training_loop": STEP_EVERY})
    done.assert_outcomes(failed=1, deselected=4)
    done.stdout.fnmatch_lines(["*04_training_loop.py::train_epoch*", "train_epoch: * of 6 points, not there yet"])
    done.stdout.fnmatch_lines(["step-every: *", "Fingerprint found:"])
    for word in ("Traceback", "NotPassedError", "pytest_plugin.py", "noise"):
        assert word not in done.stdout.str()


def test_exercise_on_which_the_marker_fails_is_shown_as_unmarked_with_the_traceback(grade, monkeypatch):
    def judge(*_):
        raise ZeroDivisionError("our fault")

    monkeypatch.setattr("autograder.exercises.unit_00_start_here.exercises.AverageGradients.judge", judge)
    done = grade("--grade", "00_start_here.py", **{"00_start_here": MEAN})
    assert done.ret == pytest.ExitCode.INTERNAL_ERROR
    done.stdout.fnmatch_lines(["00_start_here.py U*", "*is unmarked: the marker failed on it*", "ZeroDivisionError: our fault"])
    assert "0 of 1 points" not in done.stdout.str()


def test_a_notebook_is_marked_too(grade, write):
    done = grade("--grade", str(write("00_start_here.ipynb", [MEAN])))
    done.assert_outcomes(passed=1)


def test_several_files_are_marked_and_summed_up_each(grade, write):
    files = [str(write("a/00_start_here.py", MEAN)), str(write("b [1]::x/00_start_here.py", SUM))]
    done = grade("--grade", files[0], "--grade", files[1], "--device", "cpu")
    done.assert_outcomes(passed=1, failed=1)
    assert [line for line in done.outlines if "points, marked" in line] == [
        f"{files[0]}: 1 of 1 points, marked on cpu",
        f"{files[1]}: 0 of 1 points, marked on cpu",
    ]


def test_only_graded_files_are_collected(grade):
    done = grade("--grade", "00_start_here.py", test_other="def test_other(): assert False", **{"00_start_here": MEAN})
    done.assert_outcomes(passed=1)


def test_tests_that_are_asked_for_run_as_well(grade):
    files = {"test_other": "def test_other(): assert False", "00_start_here": MEAN}
    grade("--grade", "00_start_here.py", "test_other.py", **files).assert_outcomes(passed=1, failed=1)


@pytest.mark.slow
def test_an_unusable_file_is_a_usage_error_of_one_line(grade, unusable):
    path, words = unusable
    done = grade("--grade", str(path))
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in done.errlines if line]
    assert line.startswith(f"ERROR: {path.parent}")
    assert words in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "tpu"], "unknown device 'tpu'"),
        (["--device", "cuda"], "torch finds no CUDA device here"),
        (["--seed", "x"], "--seed: 'x' is not a number from 0"),
        (["--seed", "-1"], "--seed: '-1' is not a number from 0"),
        (["--seed", str(2**64)], f"is not a number from 0 to {2**64 - 1}"),
    ],
)
def test_an_unusable_option_is_a_usage_error_of_one_line(grade, monkeypatch, arguments, words):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = grade("--grade", "00_start_here.py", *arguments, **{"00_start_here": MEAN})
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in done.errlines if line]
    assert words in line


@pytest.mark.slow
def test_the_seed_chooses_the_problems(grade, tmp_path):
    spy = f"def average_gradients(g):\n    open({str(tmp_path / 'seen')!r}, 'a').write(repr(g[0].tolist()))\n    return g[0]"
    seen = []
    for seed in ("1", "1", "2"):
        grade("--grade", "00_start_here.py", "--seed", seed, **{"00_start_here": spy})
        seen.append((tmp_path / "seen").read_text())
        (tmp_path / "seen").unlink()
    assert seen[0] == seen[1] != seen[2]


def test_code_that_raises_or_asks_for_an_end_costs_only_what_it_defines(grade):
    source = f"import sys\nsys.exit(1)\n{MEAN}\nraise KeyError\n"
    grade("--grade", "00_start_here.py", **{"00_start_here": source}).assert_outcomes(passed=1)


PATCHES = """
import sys
for name, module in list(sys.modules.items()):
    if name.endswith("pytest_plugin"):
        module.GradedExercise.runtest = lambda self: None
        module.NotPassedError = type("Never", (Exception,), {})
    if name in ("autograder.contract.verdict", "autograder.contract.exercise"):
        for made in vars(module).values():
            if isinstance(made, type):
                made.passed = True
import _pytest.runner, pytest
_pytest.runner.call_and_report = lambda *arguments, **keywords: None
pytest.Item.runtest = lambda self: None
import gc
for one in gc.get_objects():
    if isinstance(one, pytest.Session):
        one.items.clear()
print("patched", "autograder.marking.marker" in sys.modules, "_pytest.main" in sys.modules)

def average_gradients(gradients):
    import builtins, os, pytest
    pytest.exit("all passed", 0)
"""


@pytest.mark.parametrize(
    "sandbox", [pytest.param((), id="trusted"), pytest.param(("--sandbox",), id="in a sandbox", marks=pytest.mark.slow)]
)
def test_a_submission_that_patches_pytest_and_the_judge_gains_nothing_and_its_neighbour_loses_nothing(grade, write, sandbox):
    files = [write("a/00_start_here.py", PATCHES), write("b/00_start_here.py", MEAN)]
    done = grade("--grade", str(files[0]), "--grade", str(files[1]), "--device", "cpu", *sandbox)
    done.assert_outcomes(passed=1, failed=1)
    assert {line for line in done.outlines if "points, marked" in line} == {
        f"{files[0]}: 0 of 1 points, marked on cpu",
        f"{files[1]}: 1 of 1 points, marked on cpu",
    }


@pytest.mark.slow
def test_in_a_sandbox_a_submission_sees_no_files_and_a_link_to_it_is_refused(grade, write, tmp_path):
    bait = write("bait.txt", "secret")
    spy = f"import os\nif os.path.exists({str(bait)!r}): raise SystemExit\n{MEAN}".replace("raise SystemExit", "os._exit(0)")
    path = write("a/00_start_here.py", spy)
    grade("--grade", str(path), "--sandbox").assert_outcomes(passed=1)
    (tmp_path / "00_start_here.py").symlink_to(path)
    done = grade("--grade", str(tmp_path / "00_start_here.py"), "--sandbox")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "is a link, which is not followed" in done.stderr.str()


@pytest.mark.slow
def test_an_ordinary_run_does_not_import_torch(tmp_path):
    (tmp_path / "test_it.py").write_text("import sys\ndef test_it(): assert 'torch' not in sys.modules")
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


OPTIONS = """
def pytest_addoption(parser):
    parser.addoption("--device", default="theirs")
    parser.addoption("--seed", default="7")
"""


def test_other_projects_may_have_options_of_the_same_names(grade, pytester):
    pytester.makeconftest(OPTIONS)
    test = "def test_it(pytestconfig): assert pytestconfig.getoption('device') == 'mine'"
    grade("--device", "mine", test_it=test).assert_outcomes(passed=1)


def test_files_are_marked_where_others_have_taken_the_names_of_the_options(grade, pytester):
    pytester.makeconftest(OPTIONS)
    grade("--grade", "00_start_here.py", "--device", "cpu", **{"00_start_here": MEAN}).assert_outcomes(passed=1)


@pytest.mark.slow
def test_torch_pytest_psutil_and_safetensors_are_all_it_needs(write):
    path = write("00_start_here.ipynb", [MEAN])
    others = ["IPython", "matplotlib", "ipywidgets", "nbformat", "nbgrader", "nbclient", "rich", "typer"]
    program = f"import sys; sys.modules.update(dict.fromkeys({others})); import pytest; "
    program += f"sys.exit(pytest.main(['-p', 'autograder.hosts.pytest_plugin', '--grade', {str(path)!r}]))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=path.parent,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": ""},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "00_start_here.ipynb: 1 of 1 points" in done.stdout


def run_in(folder: Path, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = [*COMMANDS[command], "-p", "no:cacheprovider", "--device", "cpu", *arguments]
    return subprocess.run([sys.executable, *options], capture_output=True, text=True, cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "command"),
    [(ROOT / "tests", "python -m pytest"), (Path("/"), "pytest")],
    ids=["a folder of the clone", "the root of the disk"],
)
def test_a_file_elsewhere_and_a_notebook_of_the_clone_are_marked_from_any_folder(folder, command, write):
    """The capstone, because it imports from a folder of the bench whose name a folder of tests has, too."""
    named = os.path.relpath(write("handed in/00_start_here.py", MEAN), folder)
    done = run_in(folder, command, "--grade", named, "--grade", str(ROOT / "course" / "12_capstone.ipynb"))
    assert "00_start_here.py: 1 of 1 points, marked on cpu" in done.stdout, done.stdout + done.stderr
    assert "12_capstone.ipynb: 0 of 20 points" in done.stdout, done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


SHADOWS = ("torch.py", "numpy.py", "gradaccum/__init__.py", "gradaccum/capstone/__init__.py", "nothing/here.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "command"), list(zip(["", "tests/"], COMMANDS, strict=True)), ids=["the folder itself", "its tests"]
)
def test_files_in_a_students_folder_shadow_nothing_that_marking_imports(place, command, write):
    """A ``conftest.py`` puts its folder in front of everything that is installed."""
    file = write("00_start_here.py", MEAN)
    write(f"{place}conftest.py", "import sys\n")
    for name in SHADOWS:
        write(f"{place}{name}", "raise ImportError('this is not what you want')\n")
    done = run_in(file.parent, command, "--grade", file.name)
    assert "00_start_here.py: 1 of 1 points, marked on cpu" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_beside_a_clone_and_other_tests_the_bench_is_found_and_so_are_their_modules(write):
    """A folder without ``__init__.py`` hides a package that is installed in editable mode."""
    file = write("00_start_here.py", MEAN)
    write("gradaccum/README.md", "A clone of the course.")
    write("helper.py", "VALUE = 3\n")
    write("conftest.py", "")
    write("test_other.py", "from helper import VALUE\ndef test_it(): assert VALUE == 3\n")
    done = run_in(file.parent, "python -m pytest", "--grade", file.name, "test_other.py")
    assert "00_start_here.py: 1 of 1 points, marked on cpu" in done.stdout, done.stdout + done.stderr
    assert "2 passed" in done.stdout, done.stdout + done.stderr


class _ImportsWhenFreed:
    def __del__(self):
        import io  # noqa: F401


def test_forgetting_the_modules_of_a_run_in_this_process_leaves_io_as_it_was():
    snapshot = SysModulesSnapshot()
    module = types.ModuleType("forgotten")
    module.it = _ImportsWhenFreed()
    sys.modules["forgotten"] = module
    del module
    snapshot.restore()
    assert "forgotten" not in sys.modules
    with pytest.raises(io.UnsupportedOperation):
        io.BytesIO().fileno()
