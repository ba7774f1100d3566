"""What a run leaves: its history, its four parts, and the bytes it may hold."""

from __future__ import annotations

import pytest
import torch

from gradaccum.capstone.budget import activation_bytes, ceiling
from gradaccum.capstone.config import SMALL, Config
from gradaccum.capstone.run import History
from gradaccum.capstone.variants import train


def test_a_history_holds_plain_numbers_and_tells_its_listeners():
    history, heard = History(), []
    history.listeners.append(lambda one: heard.append(one.updates))
    history.add(torch.tensor(2.5), torch.tensor(1.0), 0.1, torch.tensor(7))
    history.add(2.0, 1.5, 0.2, 8)
    assert (history.losses, history.norms, history.rates, history.tokens) == ([2.5, 2.0], [1.0, 1.5], [0.1, 0.2], [7, 8])
    assert heard == [1, 2]
    assert history.seconds == sorted(history.seconds)


def test_a_history_continues_from_a_loaded_state():
    first, second = History(), History()
    first.add(2.5, 1.0, 0.1, 7)
    state = first.state_dict()
    second.load_state_dict(state)
    second.add(2.0, 1.5, 0.2, 8)
    assert (first.updates, second.updates, state["losses"]) == (1, 2, [2.5])
    assert second.seconds[1] >= second.seconds[0]
    assert "2 updates, 15 tokens, last loss 2.000" in repr(second)


def test_all_parts_of_a_run_can_be_saved_and_loaded(tmp_path):
    run = Config(warmup=2).build()
    torch.save({name: part.state_dict() for name, part in run.parts().items()}, tmp_path / "run.pt")
    fresh = Config(warmup=2, seed=1).build()
    for name, state in torch.load(tmp_path / "run.pt").items():
        fresh.parts()[name].load_state_dict(state)
    pairs = zip(run.model.parameters(), fresh.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_more_lines_and_longer_ones_need_more_bytes_and_grad_is_left_alone():
    config = Config(lines=40)
    model = config.build_model()
    needs = [activation_bytes(model, *config.longest_micro_batch(lines)) for lines in (1, 2, 4)]
    assert needs == sorted(needs)
    assert needs[2] > 1.8 * needs[1]
    assert activation_bytes(model, *next(config.with_(longest=10).micro_batches(0))) < needs[1]
    assert all(p.grad is None for p in model.parameters())


def test_the_small_run_s_window_is_over_its_budget_and_some_micro_batch_is_within():
    model = SMALL.build_model()
    needs = {lines: activation_bytes(model, *SMALL.longest_micro_batch(lines)) for lines in (8, 12, 48)}
    assert needs[8] <= SMALL.budget < needs[12] < needs[48]


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_right_run_stays_below_the_ceiling_and_a_large_batch_does_not(optimizer):
    from gradaccum.recording import LiveBytes

    config = Config(lines=24, shortest=40, longest=40, epochs=1, micro_batch_size=2, optimizer=optimizer)
    config = config.with_(budget=activation_bytes(config.build_model(), *config.longest_micro_batch(2)))
    peaks = []
    for size in (2, 12):
        with LiveBytes() as live:
            train(config.with_(micro_batch_size=size))
        peaks.append(live.peak)
    assert peaks[0] <= ceiling(config) < peaks[1]
