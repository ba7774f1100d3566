"""Contrastive problems, the loss, and the gallery of ways to accumulate it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum.loops.contrastive import GALLERY, cached_features, local_negatives, one_large_batch, temperature_times_n
from gradaccum.problems import trainable
from gradaccum.problems.contrastive import ContrastiveProblem, gradients, info_nce

PROBLEM = ContrastiveProblem(seed=3, sizes=(3, 1, 4, 2), gated=True, extras=True)


def together(towers: tuple) -> torch.Tensor:
    return torch.cat(towers[:2])


def test_the_loss_is_the_mean_of_minus_the_logarithms_of_the_right_choices():
    torch.manual_seed(0)
    images, texts, scale = torch.randn(5, 3).double(), torch.randn(5, 3).double(), torch.tensor(0.7).double()
    chances = [[0.0, 0.0] for _ in range(5)]
    for i in range(5):
        weights = [[(scale.exp() * a @ b / a.norm() / b.norm()).exp() for a in images] for b in texts]
        chances[i] = [weights[i][i] / sum(weights[i]), weights[i][i] / sum(row[i] for row in weights)]
    due = -sum(torch.log(p) for pair in chances for p in pair) / 10
    assert float(info_nce(images, texts, scale)) == pytest.approx(float(due))


def test_the_loss_does_not_look_at_the_length_of_features():
    torch.manual_seed(0)
    images, texts, scale = torch.randn(5, 3), torch.randn(5, 3), torch.tensor(0.7)
    assert torch.allclose(info_nce(images, texts, scale), info_nce(3 * images, 0.1 * texts, scale))


@settings(max_examples=20)
@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=5), seed=st.integers(0, 1000))
def test_cached_features_are_the_large_batch_however_it_is_cut(sizes, seed):
    problem = ContrastiveProblem(seed, tuple(sizes), stale=True)
    for found, due in zip(gradients(cached_features, problem), gradients(one_large_batch, problem), strict=True):
        assert torch.allclose(found, due, rtol=1e-9, atol=1e-12)


def test_the_published_loop_is_exact_but_for_logit_scale():
    *found, scale = gradients(temperature_times_n, PROBLEM)
    *due, due_scale = gradients(one_large_batch, PROBLEM)
    assert torch.allclose(together(found), together(due), rtol=1e-9, atol=1e-12)
    assert torch.allclose(scale, 4 * due_scale)


@pytest.mark.parametrize("slug", [slug for slug in GALLERY if slug != "right"])
def test_every_wrong_loop_of_the_gallery_leaves_other_gradients(slug):
    found, due = (torch.cat(gradients(loop, PROBLEM)) for loop in (GALLERY[slug], one_large_batch))
    assert (found - due).norm() > 0.01 * due.norm()


def test_one_pair_alone_has_no_negatives_and_no_gradient():
    assert not any(g.any() for g in gradients(local_negatives, PROBLEM.with_(sizes=(1, 1, 1))))


@pytest.mark.parametrize("loop", [cached_features, temperature_times_n, one_large_batch])
def test_a_generator_of_micro_batches_gives_the_same_gradients_as_a_list(loop):
    found, due = (gradients(loop, PROBLEM.with_(one_shot=one_shot)) for one_shot in (True, False))
    assert all(f.equal(d) for f, d in zip(found, due, strict=True))


def test_a_problem_makes_the_same_encoders_and_pairs_every_time_whatever_torch_is_set_to():
    first, batches = PROBLEM.build(), PROBLEM.batches()
    torch.set_default_dtype(torch.float16)
    try:
        again, same = PROBLEM.build(), PROBLEM.batches()
    finally:
        torch.set_default_dtype(torch.float32)
    for one, other in zip(first[:2], again[:2], strict=True):
        assert all(p.equal(q) for p, q in zip(one.parameters(), other.parameters(), strict=True))
    assert first[2].equal(again[2])
    assert all(a.equal(b) for x, y in zip(batches, same, strict=True) for a, b in zip(x, y, strict=True))


def test_a_stale_problem_has_something_in_grad_of_every_trainable_parameter():
    encode_image, encode_text, logit_scale = PROBLEM.with_(stale=True).build()
    assert all(p.grad.any() for p in (*trainable(encode_image), *trainable(encode_text), logit_scale))


def test_a_window_without_pairs_is_refused():
    with pytest.raises(ValueError, match="at least one pair"):
        ContrastiveProblem(sizes=(2, 0))
