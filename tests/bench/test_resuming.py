"""A run that is killed and taken up again is, to the last bit, the run that was never killed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gradaccum.resuming import PIECES, RunProblem, put_state, state_of, train_to_end

SOLUTION = Path(__file__).parent.parent.parent / "solutions" / "11_running_it.py"
PROBLEM = RunProblem(seed=5)


def parameters(run) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in run.model.parameters()])


@pytest.mark.parametrize("overflowing", [False, True])
def test_a_run_is_the_same_every_time(overflowing):
    problem = RunProblem(seed=5, overflowing=overflowing)
    runs = [problem.start(), problem.start()]
    torch.default_generator.manual_seed(5)
    first = train_to_end(runs[0])
    torch.default_generator.manual_seed(5)
    assert train_to_end(runs[1]) == first
    assert parameters(runs[0]).equal(parameters(runs[1]))


def test_a_run_is_the_same_whatever_default_dtype_is_set():
    losses = train_to_end(PROBLEM.start())
    torch.set_default_dtype(torch.float64)
    try:
        assert train_to_end(PROBLEM.start()) == losses
    finally:
        torch.set_default_dtype(torch.float32)


def test_updates_come_after_full_windows_and_after_the_leftover():
    problem = RunProblem(accumulation_steps=3, micro_batches=7, epochs=2)
    assert problem.boundaries() == [0, 3, 6, 7, 10, 13, 14]
    assert problem.total == 14


def test_gradients_wait_exactly_while_a_window_is_open():
    run = PROBLEM.start()
    while run.position < PROBLEM.total:
        run.train_micro_batch()
        waiting = any(p.grad is not None for p in run.model.parameters())
        assert waiting == run.window_open


def test_some_windows_overflow_and_are_skipped_and_others_are_not():
    run = PROBLEM.start()
    train_to_end(run)
    updates = len(PROBLEM.boundaries()) - 1
    assert 0 < run.scheduler.last_epoch < updates


@pytest.mark.parametrize("kill", PROBLEM.boundaries())
def test_a_run_resumed_after_an_update_is_the_same_to_the_last_bit(kill):
    whole = PROBLEM.start()
    losses = train_to_end(whole)
    run = PROBLEM.start()
    for _ in range(kill):
        run.train_micro_batch()
    state, resumed = state_of(run), PROBLEM.start()
    put_state(resumed, state)
    assert train_to_end(resumed) == losses[kill:]
    assert parameters(resumed).equal(parameters(whole))


def test_a_state_does_not_change_when_the_run_goes_on():
    run = PROBLEM.start()
    for _ in range(PROBLEM.boundaries()[2]):
        run.train_micro_batch()
    state = state_of(run)
    train_to_end(run)
    resumed = PROBLEM.start()
    put_state(resumed, state)
    assert resumed.position == PROBLEM.boundaries()[2]
    train_to_end(resumed)
    assert parameters(resumed).equal(parameters(run))


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_a_state_without_one_of_its_pieces_does_not_resume_the_run_at_some_update(piece):
    whole = PROBLEM.start()
    losses, differs = train_to_end(whole), []
    for kill in PROBLEM.boundaries()[1:-1]:
        run = PROBLEM.start()
        for _ in range(kill):
            run.train_micro_batch()
        state, resumed = state_of(run), PROBLEM.start()
        put_state(resumed, state, forget=(piece,))
        differs.append(train_to_end(resumed) != losses[kill:] or not parameters(resumed).equal(parameters(whole)))
    assert any(differs)


LIVES = """
import json, os, signal, sys
import torch
from gradaccum.resuming import RunProblem

torch.set_num_threads(1)
namespace = {}
exec(sys.stdin.read(), namespace)
path, problem = sys.argv[1], RunProblem(seed=5)
problem.start()  # what torch imports with the first optimizer, all lives share

def live(kill):
    # One life of the training script: load, train, save, and be killed after this many micro-batches.
    run = problem.start()
    namespace["load_checkpoint"](path, run)
    began, losses = run.position, []
    while run.position < problem.total:
        losses.append(run.train_micro_batch())
        namespace["save_checkpoint"](path, run)
        if run.position == kill:
            os.kill(os.getpid(), signal.SIGKILL)
    with open(path + ".end", "w") as file:
        json.dump([began, losses, [p.tolist() for p in run.model.parameters()]], file)
    os._exit(0)

def fork(kill):
    child = os.fork()
    if not child:
        live(kill)
    return os.waitpid(child, 0)[1]

def end():
    with open(path + ".end") as file:
        return json.load(file)

fork(None)
report = {"never": end()}
for kill in range(1, problem.total):
    os.remove(path)
    assert fork(kill) == signal.SIGKILL
    assert fork(None) == 0
    report[kill] = end()
os.remove(path)
for kill in problem.boundaries()[1:-1]:
    assert fork(kill) == signal.SIGKILL
fork(None)
report["after each"] = end()
print(json.dumps(report))
"""


def solution_functions() -> str:
    """Imports, constants and functions of the unit's solution script, without what it shows."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    body = [
        node
        for node in ast.parse(SOLUTION.read_text()).body
        if isinstance(node, kinds) or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "OBJECTS")
    ]
    return ast.unparse(ast.Module(body, []))


@pytest.fixture(scope="module")
def lives(tmp_path_factory) -> dict:
    """A real process for every life, ended by SIGKILL; the checkpoints are those of the unit's solution."""
    path = tmp_path_factory.mktemp("lives") / "run.pt"
    done = subprocess.run(
        [sys.executable, "-c", LIVES, str(path)], input=solution_functions(), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [str(kill) for kill in range(1, PROBLEM.total)])
def test_a_process_killed_after_any_micro_batch_is_resumed_to_the_last_bit(lives, kill):
    _, losses, parameters = lives["never"]
    began, again, end = lives[kill]
    assert began == max(k for k in PROBLEM.boundaries() if k <= int(kill))
    assert again == losses[began:]
    assert end == parameters


@pytest.mark.slow
def test_a_run_killed_after_each_of_its_updates_ends_as_if_nothing_had_happened(lives):
    _, losses, parameters = lives["never"]
    began, again, end = lives["after each"]
    assert began == PROBLEM.boundaries()[-2]
    assert again == losses[began:]
    assert end == parameters
