"""Where the memory goes is measured, only activations shrink, and another instrument says the same."""

from __future__ import annotations

import re

import pytest
import torch
from torch.nn import functional as F

from gradaccum.phenomena.memory_bar import (
    BUDGET,
    CUTS,
    PRESETS,
    SAMPLES,
    TOP,
    WIDTH,
    Settings,
    Stack,
    compute,
    describe,
    measure,
)
from gradaccum.recording import LiveBytes

WEIGHTS = sum(p.nbytes for p in Stack(checkpointing=False).parameters())


@pytest.mark.parametrize(("optimizer", "copies"), [("SGD", 0), ("SGD with momentum", 1), ("AdamW", 2)])
def test_optimizer_state_is_a_whole_number_of_copies_of_the_weights(optimizer, copies):
    memory = measure(4, optimizer, checkpointing=False)
    assert memory.weights == memory.gradients == WEIGHTS
    assert memory.state == pytest.approx(copies * WEIGHTS, rel=0.001)  # AdamW also keeps a counter for each parameter


@pytest.mark.parametrize("checkpointing", [False, True])
def test_activations_are_proportional_to_the_samples_and_nothing_else_depends_on_n(checkpointing):
    by_steps = {n: measure(n, "AdamW", checkpointing) for n in CUTS}
    assert len({memory.fixed for memory in by_steps.values()}) == 1
    each = {memory.activations / (SAMPLES // n) for n, memory in by_steps.items()}
    assert len(each) == 1


def test_the_line_through_two_small_micro_batches_predicts_the_large_ones():
    result = compute(Settings())
    for n, memory in result.measured.items():
        assert memory.total == pytest.approx(result.fixed + result.per_sample * SAMPLES // n)
    assert result.fixed == result.chosen.fixed


def test_what_autograd_keeps_is_what_is_alive_after_the_forward_pass():
    model, (x, y) = Stack(checkpointing=False), torch.randn(2, 128, WIDTH)
    with LiveBytes() as live:
        loss = F.mse_loss(model(x), y)
        alive = live.now - loss.untyped_storage().nbytes()
    assert measure(4, "SGD", checkpointing=False).activations == alive + x.nbytes + y.nbytes


def test_checkpointing_halves_the_activations_and_leaves_the_rest():
    plain, checkpointed = (measure(4, "AdamW", checkpointing) for checkpointing in (False, True))
    assert checkpointed.activations == plain.activations / 2
    assert checkpointed.fixed == plain.fixed


def test_it_opens_over_the_budget_and_fix_brings_it_within():
    opening, fixed = compute(Settings()), compute(PRESETS["Fix"])
    assert opening.chosen.total > BUDGET > fixed.chosen.total
    assert "over the budget" in describe(opening)
    assert "within the budget" in describe(fixed)


def test_the_caption_has_the_measured_numbers():
    result = compute(PRESETS["Fix"])
    for size in (result.chosen.activations, result.chosen.total, result.chosen.state):
        assert f" {size / 1024:.0f}" in describe(result)
    assert result.chosen.peak is None
    assert "measured on cpu" in describe(result)


def test_the_largest_bar_is_inside_the_picture():
    assert measure(1, "AdamW", checkpointing=False).total / 1024 < 0.9 * TOP
    assert TOP > BUDGET / 1024


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("optimizer", ["SGD", "SGD with momentum", "AdamW"])
@pytest.mark.parametrize("n", CUTS)
def test_the_parts_in_the_caption_add_up_to_its_totals(n, optimizer, checkpointing):
    said = describe(compute(Settings(n, optimizer, checkpointing)))
    *parts, total = map(
        float, re.findall(r"(?:(?:weights|gradients|state|activations|again\)) |That is )(\d+(?:\.\d)?)", said)[:5]
    )
    assert sum(parts) == pytest.approx(total, abs=1e-6)
    assert sum(parts[:3]) == pytest.approx(float(re.search(r"the other (\S+) KiB", said)[1]), abs=1e-6)
