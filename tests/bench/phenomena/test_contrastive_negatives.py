"""The explorable of contrastive negatives: its numbers, and that its words say them."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.contrastive_negatives import CUTS, PAIRS, PRESETS, SAME, Settings, compute, describe


@pytest.mark.parametrize("temperature", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("method", ["cached", "published"])
def test_cached_features_are_exact_at_every_cut(method, temperature):
    result = compute(Settings(method, 4, temperature))
    assert max(one.difference for one in result.gradients.values()) < SAME


@pytest.mark.parametrize("temperature", [0.05, 0.1, 0.5])
def test_with_local_negatives_every_further_cut_worsens_the_gradient_and_lowers_the_loss(temperature):
    gradients = list(compute(Settings("local", 4, temperature)).gradients.values())
    assert gradients[0].difference < SAME
    assert [one.cosine for one in gradients] == sorted((one.cosine for one in gradients), reverse=True)
    assert [one.loss for one in gradients] == sorted((one.loss for one in gradients), reverse=True)


@pytest.mark.parametrize("n", CUTS[1:])
def test_the_published_loop_makes_the_gradient_of_logit_scale_n_times_too_large(n):
    result = compute(Settings("published", n))
    assert result.chosen.scale == pytest.approx(n)
    assert f"logit_scale's is {n:.2f} times" in describe(result)


@pytest.mark.parametrize(
    ("method", "n", "said"),
    [
        ("local", 8, "from 3 of 31 other texts"),
        ("so far", 8, "from 3 to 31 of 31 other texts"),
        ("cached", 8, "from all 31 other texts"),
    ],
)
def test_the_caption_counts_the_negatives(method, n, said):
    assert said in describe(compute(Settings(method, n)))


def test_cached_features_cost_a_second_forward_pass():
    assert compute(PRESETS["Break"]).cost.forwards == 1
    assert compute(PRESETS["Fix"]).cost.forwards == 2


@pytest.mark.parametrize("n", CUTS[1:])
def test_a_micro_batch_keeps_its_share_of_the_activations(n):
    cost = compute(Settings("cached", n)).cost
    assert cost.activations * n == cost.large_activations


@pytest.mark.parametrize("method", ["local", "so far", "cached"])
def test_what_is_seen_is_on_and_below_the_diagonal_blocks(method):
    seen = compute(Settings(method, 4)).seen
    block = PAIRS // 4
    assert seen.diagonal().all()
    assert bool(seen[0, block:].any()) == (method == "cached")
    assert bool(seen[-1, :block].any()) == (method != "local")
