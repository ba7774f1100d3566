"""Several ranks on one machine: what they return, and what becomes of those that do not."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
import torch
import torch.distributed as dist

from gradaccum.ranks import MAX_ANSWER_BYTES, RanksError, on_ranks, single_rank

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_every_rank_knows_its_number_and_receives_what_the_others_send():
    def work(rank: int) -> list[int]:
        sums = torch.tensor([rank])
        dist.all_reduce(sums)
        return [rank, dist.get_rank(), dist.get_world_size(), sums.item(), os.getpid()]

    numbers = on_ranks(3, work)
    assert [n[:4] for n in numbers] == [[rank, rank, 3, 3] for rank in range(3)]
    assert len({n[4] for n in numbers} | {os.getpid()}) == 4


def test_ranks_change_nothing_in_the_calling_process():
    seen = []
    on_ranks(2, lambda rank: seen.append(rank))
    assert seen == []
    assert not dist.is_initialized()


def test_numbers_are_returned_to_the_last_bit():
    assert on_ranks(1, lambda rank: [0.1, float("inf"), 1e-320]) == [[0.1, float("inf"), 1e-320]]


def failing(work, **options) -> RanksError:
    with pytest.raises(RanksError) as caught:
        on_ranks(2, work, **options)
    return caught.value


def test_an_error_on_one_rank_ends_all_ranks_at_once_even_if_the_others_wait_for_it():
    def work(rank: int) -> None:
        if rank == 1:
            raise ValueError("no")
        dist.barrier()

    error = failing(work)
    assert (error.rank, error.kind, error.said) == (1, "raised", "ValueError: no"), "at the time limit it would be 'time'"


def test_a_rank_that_dies_is_named():
    def work(rank: int) -> None:
        if rank == 0:
            os._exit(3)
        dist.barrier()

    error = failing(work)
    assert (error.rank, error.kind) == (0, "died")


def test_a_dead_rank_is_noticed_even_if_a_process_it_started_holds_its_pipe_open():
    def work(rank: int) -> None:
        if rank == 0:
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
        dist.barrier()

    assert failing(work).kind == "died"


def test_deadlocked_ranks_are_ended_at_the_time_limit():
    error = failing(lambda rank: dist.barrier() if rank == 0 else time.sleep(60), seconds=1)
    assert error.kind == "time"


def test_processes_that_ranks_started_are_ended_with_them(tmp_path):
    def work(rank: int) -> None:
        if rank == 0:
            (tmp_path / "child").write_text(str(subprocess.Popen(["sleep", "60"]).pid))
        dist.barrier()

    on_ranks(2, work)
    pid = int((tmp_path / "child").read_text())
    for _ in range(1200):
        if not is_running(pid):
            return
        time.sleep(0.05)
    pytest.fail("it is still there")


def is_running(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(found) and not found.startswith("Z")


def test_an_answer_that_is_too_large_is_refused():
    assert failing(lambda rank: "x" * (MAX_ANSWER_BYTES + 1)).kind == "large"


@pytest.mark.parametrize("value", [{1, 2}, object(), torch.zeros(1)], ids=["a set", "an object", "a tensor"])
def test_returning_something_that_is_not_json_is_an_error(value):
    error = failing(lambda rank: value)
    assert error.kind == "raised"
    assert error.said.startswith("TypeError")


def test_on_ranks_refuses_to_run_while_a_process_group_is_open():
    with single_rank(), pytest.raises(RuntimeError, match="destroy_process_group"):
        on_ranks(2, lambda rank: rank)


def test_a_single_rank_shares_with_itself_and_leaves_nothing_behind():
    hook, variables = sys.excepthook, dict(os.environ)
    with single_rank():
        number = torch.tensor(3.0)
        dist.all_reduce(number)
        with single_rank():
            assert dist.get_world_size() == 1
        assert dist.is_initialized(), "the inner one has not closed the outer one's group"
    assert number == 3
    assert not dist.is_initialized()
    assert (sys.excepthook, dict(os.environ)) == (hook, variables)


@pytest.mark.slow
def test_ranks_can_be_forked_where_several_threads_have_computed():
    code = """
import torch
from gradaccum.ranks import on_ranks
torch.set_num_threads(4)
big = torch.randn(600, 600, requires_grad=True)
(big @ big).tanh().sum().backward()

def work(rank):
    x = torch.randn(300, 300, requires_grad=True)
    (x @ x).tanh().sum().backward()
    return torch.get_num_threads()

print(on_ranks(2, work))
"""
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=100)
    assert done.stdout == "[1, 1]\n", done.stderr
