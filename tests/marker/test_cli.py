"""The ``gradaccum`` command, as a user meets it: what it prints, where, and its exit status."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from rich.console import Console

from autograder.cli import main
from autograder.contract.observation import Failure
from autograder.desk.marks_table import print_marks
from autograder.exercises import all_exercises, exercises_of
from autograder.marking.marker import Marks
from gradaccum.diagnosis.catalogue import mistake

SUM = "def average_gradients(gradients):\n    return sum(gradients)\n"
MEAN = "def average_gradients(gradients):\n    return sum(gradients) / len(gradients)\n"


COMMAND = [sys.executable, "-c", "from autograder.cli import main; main()"]


def gradaccum(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, **options)


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process: exit status, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments)])
        return end.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def refused(run) -> Callable[..., str]:
    """Run the command; it has to exit with 2, print nothing on stdout and one line on stderr, which is returned."""

    def refused(*arguments: object) -> str:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        (line,) = err.splitlines()
        return line

    return refused


def test_an_unusable_file_gets_one_line_on_stderr_and_exit_status_2(unusable, refused):
    path, words = unusable
    line = refused("check", path)
    assert line.startswith(f"gradaccum check: {path.parent}")
    assert words in line


def test_a_link_is_followed_for_its_owner_but_not_in_a_sandbox_or_for_an_lms(write, refused, run, tmp_path):
    link = tmp_path / "00_start_here.py"
    link.symlink_to(write("elsewhere/mean.py", MEAN))
    assert "is a link, which is not followed" in refused("check", "--sandbox", link)
    code, _, err = run("check", "--gradescope", tmp_path / "results.json", link)
    assert (code, "is a link, which is not followed" in err) == (0, True)
    assert "is a link" in (tmp_path / "results.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check"], "Missing argument 'FILE…'"),
        (["check", "--seed", "x", "FILE"], "Invalid value for '--seed'"),
        (["check", "--seed", "1.5", "FILE"], "Invalid value for '--seed'"),
        (["check", "--seed", "-1", "FILE"], "Invalid value for '--seed'"),
        (["check", "--seed", "18446744073709551616", "FILE"], "Invalid value for '--seed'"),
        (["check", "--device", "tpu", "FILE"], "unknown device 'tpu'; choose one of auto, cpu, cuda"),
        (["check", "--device", "tpu", "missing.py"], "unknown device 'tpu'"),
        (["check", "--device", "cuda", "FILE"], "torch finds no CUDA device here; use --device cpu"),
        (["check", "--devize", "cpu", "FILE"], "No such option: --devize"),
        (["check", ""], "is a directory"),
        (["mark", "FILE"], "No such command 'mark'"),
        (["classroom", "bogus"], "gradaccum classroom: No such command 'bogus'"),
    ],
)
def test_an_unusable_command_line_gets_one_line_on_stderr_and_exit_status_2(arguments, words, write, refused, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    path = write("00_start_here.py", MEAN)
    assert words in refused(*(path if argument == "FILE" else argument for argument in arguments))


@pytest.mark.slow
def test_the_exit_status_of_the_process_is_that_of_the_command():
    done = gradaccum("check", "missing.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gradaccum check: missing.py: there is no such file; check its name and folder\n"


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["classroom", "--help"], []])
def test_help_is_printed(arguments, run):
    _, out, err = run(*arguments)
    assert "Usage: gradaccum" in out
    assert err == ""


def test_torch_is_imported_only_when_the_fork_server_has_been_started(write, run, monkeypatch):
    order = []

    def pick_device(device: str) -> str:
        order.append("torch")
        raise ValueError("no device")

    monkeypatch.setattr("autograder.cli.shared_fork_server", lambda *asked: order.append(asked))
    monkeypatch.setattr("autograder.cli.likely_device", lambda: "cpu")
    monkeypatch.setattr("autograder.cli.pick_device", pick_device)
    run("check", write("00_start_here.py", MEAN))
    run("check", "--device", "cuda", "--sandbox", write("00_start_here.py", MEAN))
    run("check", "--device", "tpu", write("00_start_here.py", MEAN))
    assert order == [("none", "cpu"), "torch", ("bwrap", "cuda"), "torch", "torch"]


def test_complaints_and_help_do_not_import_torch():
    program = "import sys; from autograder.cli import main\ntry: main(['check', 'missing.ipynb'])\nexcept SystemExit: pass\n"
    done = subprocess.run([*COMMAND[:2], program + "print('torch' in sys.modules)"], capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_json_is_one_document_of_the_agreed_shape_and_nothing_else(write, run):
    right, wrong = write("a/00_start_here.py", MEAN), write("b/00_start_here.ipynb", [SUM])
    code, out, err = run("check", "--json", right, wrong, "--device", "cpu", "--seed", "3")
    assert (code, err) == (0, "")
    passed = {"id": "average_gradients", "score": 1.0, "max_score": 1.0, "passed": True, "mistakes": []}
    named = {"slug": "no-scale", "message": mistake("no-scale").message}
    failed = passed | {"score": 0.0, "passed": False, "mistakes": [named]}
    common = {"unit": "00_start_here", "device": "cpu", "max_score": 1.0}
    assert '"score": 0.0, "max_score": 1.0' in out
    assert json.loads(out) == {
        "files": [
            common | {"file": str(right), "score": 1.0, "exercises": [passed]},
            common | {"file": str(wrong), "score": 0.0, "exercises": [failed]},
        ]
    }


def test_unusable_files_are_reported_and_the_rest_is_marked(write, run):
    files = [write("notes.txt", "hello"), write("00_start_here.py", MEAN), "missing.py"]
    code, out, err = run("check", "--json", *files)
    assert code == 2
    assert [line.split(": ")[1] for line in err.splitlines()] == [str(files[0]), "missing.py"]
    assert [marked["score"] for marked in json.loads(out)["files"]] == [1.0]


def test_without_json_there_is_a_line_for_each_exercise_with_what_it_does(write, run):
    path = write("00_start_here.py", SUM)
    code, out, err = run("check", path)
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == f"{path}: 0 of 1 points"
    assert lines[1].startswith("unit 00_start_here, marked on ")
    assert lines[3].startswith("✗ average_gradients 0/1 no-scale: ")
    assert mistake("no-scale").message in " ".join(lines)
    assert "\x1b" not in out


@pytest.mark.slow
def test_output_works_in_a_terminal_that_supports_only_ascii(write):
    done = gradaccum("check", write("00_start_here.py", MEAN), env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "average_gradients" in done.stdout


@pytest.mark.slow
def test_a_closed_output_pipe_is_not_an_error(write):
    command = [*COMMAND, "check", write("00_start_here.py", MEAN)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()


def shown(*verdicts, terminal: bool = False, width: int = 120, file: str = "04_training_loop.py") -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
    print_marks(Marks(file, "04_training_loop", "cpu", verdicts), console)
    return out.getvalue()


def test_a_function_without_observations_gets_the_reason_once():
    exercise = all_exercises()["train_epoch"]
    text = shown(exercise.failed(Failure("missing", "There is no function called train_epoch.")))
    assert text.count("There is no function") == 1


def test_the_missing_part_is_named_where_no_mistake_has_a_name():
    exercise = all_exercises()["train_epoch"]
    messages = {part.name: "" for part in exercise.parts} | {"full": "It does not move.", "stream": "It does not move."}
    text = shown(exercise.verdict(messages, remark="Update 1 holds nothing."))
    assert text.count("It does not move.") == 1
    assert "Update 1 holds nothing." in text
    assert "4/6" in text


def test_text_of_a_submission_is_never_interpreted_as_markup_or_terminal_codes():
    failure = Failure("raised", "Your code raised [bold red]KeyError: [/]")
    text = shown(all_exercises()["train_epoch"].failed(failure), file="\x1b[2J[red].py")
    assert "[bold red]KeyError: [/]" in text
    assert text.startswith("[red].py: 0 of 6 points")
    assert "\x1b" not in text


def test_a_terminal_gets_colours_and_words_say_the_same_without_them():
    verdicts = [exercise.failed(Failure("unwritten", "Not written yet.")) for exercise in exercises_of("04_training_loop")]
    text = shown(*verdicts, terminal=True)
    assert "\x1b[31m✗" in text
    assert text.count("Not written yet.") == len(verdicts)


def test_a_narrow_terminal_loses_no_words():
    message = mistake("tail-stale").message
    exercise = all_exercises()["train_epoch"]
    results = {part.name: "wrong" for part in exercise.parts}
    text = shown(exercise.verdict(results, mistakes=(mistake("tail-stale"),)), width=60)
    assert message.replace(" ", "") in "".join(text.split())
