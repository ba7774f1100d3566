"""Trainers of the zoo that throw windows away, compute forwards twice, or reach a layer in some micro-batches only."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from zoo_entries import DUE, N, _enter, cls, mlp, right, untold, windows, wrong


def spike(w, divisor=N, keeps=False, at=(1,)):
    """Some windows have a spike and are not applied."""
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for k, window in enumerate(windows(cls(16))):
            for x, y in window:
                (F.cross_entropy(m(x), y) / divisor).backward()
            if k not in at:
                o.step()
            if k not in at or not keeps:
                o.zero_grad()
    return m


@untold
def window_with_a_spike_is_thrown_away(w):
    return spike(w)


@untold
def two_windows_with_spikes_are_thrown_away(w):
    return spike(w, at=(0, 1))


@wrong("not divided (a window is thrown away)")
def window_with_a_spike_is_thrown_away_and_others_are_not_divided(w):
    return spike(w, divisor=1)


@wrong("a window with a spike stays in .grad")
def window_with_a_spike_is_kept(w):
    return spike(w, keeps=True)


@wrong("every second window is thrown away")
def every_second_window_is_thrown_away(w):
    return spike(w, at=(0, 2))


def checkpointed(w, divisor, reentrant):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for window in windows(cls()):
            for x, y in window:
                out = checkpoint(m, x.requires_grad_(), use_reentrant=reentrant)
                (F.cross_entropy(out, y) / divisor).backward()
            o.step()
            o.zero_grad()
    return m


@right
def whole_model_checkpointed(w):
    return checkpointed(w, N, reentrant=False)


@right
def whole_model_checkpointed_and_run_again_in_the_backward(w):
    return checkpointed(w, N, reentrant=True)


@wrong("not divided (checkpointed)")
def whole_model_checkpointed_and_not_divided(w):
    return checkpointed(w, 1, reentrant=True)


def alternating(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for window in windows(cls()):
            for k, (x, y) in enumerate(window):
                m[0].requires_grad_(k % 2 == 1)
                (F.cross_entropy(m(x), y) / N).backward()
            m[0].requires_grad_(True)
            o.step()
            o.zero_grad()
    return m


_enter(alternating, DUE, words="Only micro-batches 2 and 4 of each window reach 0.weight, 0.bias: are the others detached")


class Complex(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 3, dtype=torch.cfloat))

    def forward(self, x):
        return (x.to(torch.cfloat) @ self.weight).abs()


def complex_valued(w, divisor=N, clears=False):
    m = Complex()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for window in windows(cls()):
            for x, y in window:
                if clears:
                    o.zero_grad()
                (F.cross_entropy(m(x), y) / divisor).backward()
            o.step()
            o.zero_grad()
    return m


@right
def complex_parameters(w):
    return complex_valued(w)


@wrong("not divided (complex parameters)")
def complex_parameters_not_divided(w):
    return complex_valued(w, divisor=1)


@wrong("cleared before every backward (complex parameters)")
def complex_parameters_cleared_before_every_backward(w):
    return complex_valued(w, clears=True)
