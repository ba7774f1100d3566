"""A run as data: lines, micro-batches, rates, and what is made from them."""

from __future__ import annotations

import pytest
import torch

from gradaccum.capstone.config import LARGE, SMALL, Config
from gradaccum.capstone.text import decode, tokens_in


def lines_of(config: Config, epoch: int) -> list[str]:
    return [decode(row.tolist()).strip("\n") for x, _ in config.micro_batches(epoch) for row in x]


def test_an_epoch_sees_every_line_once_in_an_order_of_its_own():
    config = Config(lines=40)
    first, second = lines_of(config, 0), lines_of(config, 1)
    assert sorted(first) == sorted(second) == sorted(line.text for line in config.text)
    assert first != second
    assert lines_of(config, 0) == first


def test_the_last_micro_batch_holds_what_is_left():
    sizes = [len(x) for x, _ in Config(lines=11, micro_batch_size=3).micro_batches(0)]
    assert sizes == [3, 3, 3, 2]


def test_the_cut_into_micro_batches_does_not_change_the_order_of_lines():
    assert lines_of(Config(micro_batch_size=2), 1) == lines_of(Config(micro_batch_size=12), 1)


def test_micro_batches_come_as_a_stream_that_can_be_used_once():
    stream = Config().micro_batches(0)
    assert iter(stream) is stream


def test_lines_are_cut_to_the_longest_and_short_ones_are_left_out():
    assert {len(line.text) for line in Config(shortest=16, longest=16).text} == {16}


def test_the_longest_micro_batch_has_at_least_as_many_places_as_any_other():
    config = Config(lines=60, micro_batch_size=4)
    most = config.longest_micro_batch(4)[0].numel()
    assert all(x.numel() <= most for x, _ in config.micro_batches(0))


def test_a_micro_batch_size_has_to_divide_the_window():
    with pytest.raises(ValueError, match="5 lines do not divide a window of 12"):
        Config(micro_batch_size=5)


def test_updates_count_leftover_windows():
    assert Config(lines=25, effective_batch=12, epochs=2).updates == 6


def test_the_rate_rises_then_falls_to_a_tenth_at_the_last_update():
    config = Config(lines=120, epochs=1, warmup=3, decay=True)
    rates = [config.rate(k) for k in range(config.updates)]
    assert rates[:4] == pytest.approx([1 / 4, 2 / 4, 3 / 4, 1.0])
    assert rates[3:] == sorted(rates[3:], reverse=True)
    assert rates[-1] == pytest.approx(0.1)
    assert {Config().rate(k) for k in range(5)} == {1.0}


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_two_runs_of_a_config_start_equal_and_share_nothing(optimizer):
    first, second = (Config(optimizer=optimizer, warmup=1).build() for _ in range(2))
    pairs = list(zip(first.model.parameters(), second.model.parameters(), strict=True))
    assert all(torch.equal(a, b) and a is not b for a, b in pairs)
    assert first.optimizer.param_groups[0]["lr"] == pytest.approx(0.003 / 2)


def test_building_a_model_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    Config().build_model()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_watcher_sees_every_run_and_is_not_part_of_the_config():
    seen = []
    config = Config(watch=seen.append)
    assert config.build() is seen[0]
    assert config == Config()
    assert hash(config) == hash(Config())


@pytest.mark.parametrize("preset", [SMALL, LARGE])
def test_no_line_of_a_preset_is_cut_and_every_token_is_counted(preset):
    assert max(len(line.text) for line in preset.text) <= preset.longest
    tokens = sum(tokens_in(y) for _, y in preset.with_(lines=100).micro_batches(0))
    assert tokens == sum(len(line.text) + 1 for line in preset.with_(lines=100).text)
