"""What the capstone shows once more of the ledger, on a real model: row 34, with the figures that its notebook prints."""

from __future__ import annotations

import pytest
import torch

from gradaccum.capstone.budget import activation_bytes
from gradaccum.capstone.config import SMALL, Config
from gradaccum.capstone.variants import train
from gradaccum.problems import flat_parameters

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_row_34_checkpointing_and_accumulation_each_save_on_the_gpt_and_most_together():
    need = {
        (lines, recompute): activation_bytes(SMALL.with_(recompute=recompute).build_model(), *SMALL.longest_micro_batch(lines))
        for lines in (48, 8)
        for recompute in (False, True)
    }
    assert need[48, True] < 0.6 * need[48, False]
    assert need[8, False] < 0.3 * need[48, False]
    assert need[8, True] < 0.6 * min(need[8, False], need[48, True])


@pytest.mark.parametrize("size", [3, 12])
def test_row_34_a_run_that_computes_its_blocks_again_ends_at_the_same_weights(size):
    ends = []
    for recompute in (False, True):
        runs = []
        train(Config(lines=30, epochs=1, micro_batch_size=size, dtype="float64", recompute=recompute, watch=runs.append))
        ends.append(flat_parameters(runs[0].model))
    assert torch.allclose(*ends, rtol=1e-12, atol=1e-12)
