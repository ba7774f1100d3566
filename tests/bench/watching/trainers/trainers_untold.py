"""Trainers that say nothing about their shares."""

from __future__ import annotations

import torch
from trainer_entries import DATA, N, TwoTowers, cross_entropy, train_with_cached_features, untold


@untold(model=TwoTowers)
def temperature_of_cached_features_learns_its_share(model):
    train_with_cached_features(model, share=1 / N)


@untold(steps=1)
def sharpness_aware(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for x, y in DATA:
        optimizer.zero_grad()
        cross_entropy(model, x, y).backward()
        with torch.no_grad():
            moves = [0.05 * p.grad / p.grad.norm() for p in model.parameters()]
            for parameter, move in zip(model.parameters(), moves, strict=True):
                parameter += move
        optimizer.zero_grad()
        cross_entropy(model, x, y).backward()
        with torch.no_grad():
            for parameter, move in zip(model.parameters(), moves, strict=True):
                parameter -= move
        optimizer.step()


@untold
def nothing_at_all(model):
    pass
