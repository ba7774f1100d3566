"""On two ranks, watching joins what each of them saw, and changes nothing there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

import gradaccum
from gradaccum.ranks import on_ranks

pytestmark = pytest.mark.slow

_spec = importlib.util.spec_from_file_location("trainers_on_two_ranks", Path(__file__).with_name("two_ranks.py"))
trainers = importlib.util.module_from_spec(_spec)
sys.modules["trainers_on_two_ranks"] = trainers
_spec.loader.exec_module(trainers)


def end(model) -> list:
    """Everything a run ends with: parameters, and the state of the random numbers."""
    return [*(value.tolist() for value in model.state_dict().values()), torch.get_rng_state().tolist()]


def on_a_rank(rank: int) -> dict:
    found = {}
    for name, trainer in trainers.TRAINERS.items():
        alone = trainers.model()
        trainer.run(trainers.wrapped(trainer, alone), rank)
        due = end(alone)
        inner = trainers.model()
        model = trainers.wrapped(trainer, inner)
        with gradaccum.watch(inner if name == "tokens_of_all_ranks" else model, trainer.steps) as seen:
            trainer.run(model, rank)
        joined = seen.joined()
        found[name] = {"own": seen.as_json(), "joined": joined.as_json(), "text": str(joined), "same": end(inner) == due}
    return found


@pytest.fixture(scope="module")
def ended() -> list[dict]:
    return on_ranks(2, on_a_rank, seconds=120)


EVERY_TRAINER = pytest.mark.parametrize("name", trainers.TRAINERS)


@EVERY_TRAINER
def test_joined_ranks_are_judged_as_they_should_be_and_alike_on_both(ended, name):
    one, other = (of_rank[name] for of_rank in ended)
    assert one["joined"] == other["joined"]
    named = [mistake["slug"] for mistake in one["joined"]["mistakes"]] or [one["joined"]["outcome"]]
    assert named == [trainers.TRAINERS[name].want], one["text"]


@EVERY_TRAINER
def test_watched_ranks_end_bit_for_bit_where_unwatched_ones_end(ended, name):
    assert [of_rank[name]["same"] for of_rank in ended] == [True, True]


def test_joined_matrix_has_the_columns_of_both_ranks_in_each_window(ended):
    [matrix] = ended[0]["tokens_of_all_ranks"]["joined"]["matrices"]
    own = [of_rank["tokens_of_all_ranks"]["own"]["matrices"][0]["counts"] for of_rank in ended]
    assert matrix["counts"] == [*own[0][:4], *own[1][:4], *own[0][4:8], *own[1][4:8], *own[0][8:], *own[1][8:]]
    assert torch.allclose(torch.tensor(matrix["found"]), torch.tensor(matrix["due"]))
    assert torch.allclose(torch.tensor(matrix["found"]).sum(1), torch.ones(3))


def test_report_of_one_rank_says_that_it_is_and_judges_no_totals(ended):
    own = ended[1]["tokens_of_its_own_rank"]["own"]
    assert own["outcome"] == "due"
    assert "this is of rank 1 alone. seen.joined(), called on all ranks" in " ".join(own["notes"])


def test_rank_whose_partner_never_joins_is_told_and_does_not_hang():
    def work(rank: int) -> str:
        model = torch.nn.Linear(2, 1)
        if rank == 1:
            dist.barrier()  # it comes to no harm in between
            return ""
        with gradaccum.watch(model) as seen:
            pass
        with pytest.raises(TimeoutError) as caught:
            seen.joined(seconds=0.1)
        dist.barrier()
        return str(caught.value)

    said, _ = on_ranks(2, work)
    assert "rank 1 did not call seen.joined() within 0.1 s of rank 0" in said


def test_ranks_can_be_joined_after_their_process_group_is_gone():
    def work(rank: int) -> str:
        trainer = trainers.TRAINERS["samples_of_one_number"]
        model = trainers.wrapped(trainer, trainers.model())
        with gradaccum.watch(model, trainers.N) as seen:
            trainer.run(model, rank)
        del model
        dist.destroy_process_group()
        return seen.joined().outcome

    assert on_ranks(2, work) == ["due", "due"]


def test_single_process_has_nothing_to_join():
    with gradaccum.watch(torch.nn.Linear(2, 1)) as seen:
        pass
    with pytest.raises(RuntimeError, match="for several ranks"):
        seen.joined()
