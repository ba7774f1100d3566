"""The small GPT: causal, without chance, the same whether its blocks are kept or computed again."""

from __future__ import annotations

import pytest
import torch

from gradaccum.capstone.config import Config
from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import IGNORE, LETTERS, encode

CONFIG = Config(dtype="float64")


def test_the_model_returns_a_logit_for_every_letter_at_every_position():
    x, _ = encode(["fog", "wind west, calm"])
    assert CONFIG.build_model()(x).shape == (2, 16, len(LETTERS))


def test_later_characters_and_padding_do_not_affect_earlier_positions():
    model = CONFIG.build_model()
    alone, padded = (model(encode(texts)[0])[0, :4] for texts in (["fog"], ["fog", "wind west, calm"]))
    assert torch.allclose(alone, padded, atol=1e-12)


def test_lines_of_a_micro_batch_do_not_affect_each_other():
    model = CONFIG.build_model()
    x, _ = encode(["ebb", "fog"])
    assert torch.allclose(model(x)[1], model(x[1:])[0], atol=1e-12)


def test_lines_affect_each_other_in_a_coupled_model():
    model = CONFIG.with_(coupled=True).build_model()
    x, _ = encode(["ebb", "fog"])
    assert not torch.allclose(model(x)[1], model(x[1:])[0], atol=1e-3)


def test_the_loss_is_the_mean_over_tokens_that_are_not_padding():
    model = CONFIG.build_model()
    x, y = encode(["fog", "wind west, calm"])
    logs = model(x).log_softmax(-1)
    each = [-logs[i, j, y[i, j]] for i in range(2) for j in range(16) if y[i, j] != IGNORE]
    assert token_loss(model(x), y).item() == pytest.approx((sum(each) / len(each)).item())


def test_recomputing_blocks_gives_the_same_gradient():
    gradients = []
    for recompute in (False, True):
        model = CONFIG.with_(recompute=recompute).build_model()
        x, y = CONFIG.longest_micro_batch(4)
        gradients.append(torch.autograd.grad(token_loss(model(x), y), list(model.parameters())))
    assert all(torch.allclose(a, b, atol=1e-14) for a, b in zip(*gradients, strict=True))


def test_the_model_writes_the_same_lines_of_known_letters_for_the_same_generator():
    model = CONFIG.build_model()
    first, again = (model.write(torch.Generator().manual_seed(1), 3) for _ in range(2))
    assert first == again
    assert len(first) == 3
    assert all(set(line) <= set(LETTERS) and len(line) <= CONFIG.longest for line in first)
