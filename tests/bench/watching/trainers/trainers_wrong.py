"""Trainers with a planted mistake."""

from __future__ import annotations

import torch
from torch.nn import functional as F
from trainer_entries import (
    DATA,
    WIDTH,
    WINDOWS,
    WORDS,
    Classifier,
    N,
    TwoTowers,
    adamw,
    cross_entropy,
    smoothed,
    summed,
    tokens_in,
    train,
    train_with_cached_features,
    wrong,
)


@wrong("no-scale")
def never_divided(model):
    train(model, lambda m, x, y, window: F.mse_loss(m(x).mean(1), torch.zeros(2, WORDS)))


@wrong("token-mean-of-means")
def mean_of_means_over_tokens(model):
    train(model, lambda m, x, y, window: cross_entropy(m, x, y) / len(window))


@wrong("no-scale")
def label_smoothing_never_divided(model):
    train(model, lambda m, x, y, window: smoothed(m, x, y) / tokens_in([(x, y)]))


@wrong("mean-of-means", model=Classifier)
def mean_of_means_over_samples_of_a_classification(model):
    optimizer = adamw(model)
    for _ in range(2):
        for window in WINDOWS:
            optimizer.zero_grad()
            for k in range(len(window)):
                loss = F.cross_entropy(model(torch.randn(2 + k, WIDTH)), torch.zeros(2 + k, dtype=torch.int64))
                (loss / len(window)).backward()
            optimizer.step()


@wrong("wrong-total")
def padding_counted_as_tokens(model):
    total = {id(window): sum(y.numel() for _, y in window) for window in WINDOWS}
    train(model, lambda m, x, y, window: cross_entropy(m, x, y, reduction="none").sum() / total[id(window)])


@wrong("not-due")
def total_of_an_epoch_for_windows_that_span_two(model):
    optimizer, steps = adamw(model), 0
    for _ in range(2):
        for k, (x, y) in enumerate(DATA):
            (summed(model, x, y) / tokens_in(WINDOWS[k // N])).backward()
            steps += 1
            if steps % N == 0:
                optimizer.step()
                optimizer.zero_grad()


@wrong("wrong-total")
def one_token_too_many_for_each_sequence(model):
    train(model, lambda m, x, y, window: summed(m, x, y) / (tokens_in(window) + 2 * len(window)))


@wrong("still-scaled")
def never_unscaled(model):
    train(model, lambda m, x, y, window: 1024 * summed(m, x, y) / tokens_in(window), torch.optim.SGD(model.parameters(), 1e-9))


@wrong("never-updated")
def embedding_left_out_of_the_optimizer(model):
    rest = [*model.layer.parameters(), *model.head.parameters()]
    train(model, lambda m, x, y, window: summed(m, x, y) / tokens_in(window), torch.optim.AdamW(rest))


@wrong("no-scale")
def one_loss_of_two_not_divided(model):
    def loss_of(m, x, y, window):
        out = m(x).mean(1)
        return F.mse_loss(out, torch.zeros(2, WORDS)) / len(window) + F.l1_loss(out, torch.ones(2, WORDS))

    train(model, loss_of)


@wrong("zero-every")
def embedding_cleared_before_every_backward(model):
    def loss_of(m, x, y, window):
        m.embedding.zero_grad()
        return summed(m, x, y) / tokens_in(window)

    train(model, loss_of)


@wrong("outside-of-cache", model=TwoTowers)
def temperature_of_cached_features_learns_in_every_backward(model):
    train_with_cached_features(model, share=1.0)
