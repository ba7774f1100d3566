"""Counting what torch.distributed carries."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from gradaccum.collectives import ALL_REDUCE, Call, Collectives
from gradaccum.ranks import single_rank

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_an_all_reduce_is_counted_with_its_bytes():
    with single_rank(), Collectives() as seen:
        dist.all_reduce(torch.zeros(3, dtype=torch.float64))
    assert seen.calls == seen.all_reduces == [Call(ALL_REDUCE, 24)]


def test_other_collectives_are_counted_by_name_with_the_bytes_this_rank_contributes():
    with single_rank(), Collectives() as seen:
        dist.broadcast(torch.zeros(2), 0)
        dist.all_gather([torch.zeros(5)], torch.zeros(5))
        dist.barrier()
    assert [(call.kind, call.bytes) for call in seen.calls if call.bytes > 1] == [("broadcast", 8), ("allgather", 20)]
    assert seen.all_reduces == []


def test_all_reduces_of_distributed_data_parallel_are_counted_unless_no_sync_is_on():
    with single_rank(), Collectives() as seen:
        model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
        with model.no_sync():
            model(torch.ones(1, 3)).sum().backward()
        assert seen.all_reduces == []
        model(torch.ones(1, 3)).sum().backward()
    assert seen.all_reduces == [Call(ALL_REDUCE, 16)]


def test_calls_are_announced_in_order_and_calls_outside_the_block_are_not_counted():
    said = []
    with single_rank():
        with Collectives(said.append) as seen:
            dist.all_reduce(torch.zeros(1))
            dist.all_reduce(torch.zeros(2))
        dist.all_reduce(torch.zeros(3))
    assert said == seen.calls == [Call(ALL_REDUCE, 4), Call(ALL_REDUCE, 8)]
