"""Trainers of the zoo."""

from __future__ import annotations

import copy
import itertools

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import LM, N, bad, cls, mlp, right, toks, untold, windows


@right
def nan_losses_skipped_and_not_counted(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    k = 0
    with w(m, N):
        for i, (x, y) in enumerate(cls(10)):
            if i in (2, 7):
                x = x * float("nan")
            l = F.cross_entropy(m(x), y) / N
            if not torch.isfinite(l):
                continue
            l.backward()
            k += 1
            if k % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def tbptt(w):
    m = nn.ModuleList([nn.RNN(3, 6, batch_first=True), nn.Linear(6, 1)])
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 2):
        h = None
        for i in range(8):
            x = torch.randn(2, 5, 3)
            out, h = m[0](x, h)
            h = h.detach()
            (F.mse_loss(m[1](out), torch.randn(2, 5, 1)) / 2).backward()
            if i % 2:
                o.step()
                o.zero_grad()
    return m


@right
def sparse_embedding(w):
    m = nn.EmbeddingBag(20, 3, sparse=True)
    o = optim.SparseAdam(list(m.parameters()), 0.01)
    with w(m, N):
        for i in range(8):
            (F.cross_entropy(m(torch.randint(0, 20, (4, 3))), torch.randint(0, 3, (4,))) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def two_models_one_optimizer(w):
    a, b = mlp(6), mlp(3)
    o = optim.Adam(itertools.chain(a.parameters(), b.parameters()), 0.01)
    with w([*a.parameters(), *b.parameters()], N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(b(a(x).tanh()), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return nn.ModuleList([a, b])


@untold
def model_returns_losses_dict(w):
    class Det(nn.Module):
        def __init__(s):
            super().__init__()
            s.b = nn.Linear(6, 8)
            s.c = nn.Linear(8, 3)
            s.r = nn.Linear(8, 4)

        def forward(s, x, t):
            h = s.b(x).relu()
            return {"cls": F.cross_entropy(s.c(h), t["y"]), "box": F.smooth_l1_loss(s.r(h), t["box"], reduction="sum") / len(x)}

    m = Det()
    o = optim.SGD(m.parameters(), 0.05, momentum=0.9)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            l = sum(m(x, {"y": y, "box": torch.randn(4, 4)}).values())
            (l / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def trainer_class_with_callbacks(w):
    class T:
        def __init__(s, m, accum):
            s.m, s.n, s.o, s.k, s.log = m, accum, optim.AdamW(m.parameters(), 0.01), 0, []

        def training_step(s, b):
            return nn.CrossEntropyLoss()(s.m(b[0]), b[1])

        def maybe_step(s):
            if s.k % s.n:
                return
            s.log.append(nn.utils.get_total_norm([p.grad for p in s.m.parameters()]).item())
            s.o.step()
            s.o.zero_grad()

        def fit(s, d):
            for b in d:
                l = s.training_step(b)
                s.log.append(l.item())
                (l / s.n).backward()
                s.k += 1
                s.maybe_step()

    m = mlp()
    t = T(m, N)
    d = cls()
    with w(m, N):
        t.fit(d)
    return m


@right
def byol_target(w):
    m = mlp()
    t = copy.deepcopy(m).requires_grad_(False)
    q = nn.Linear(3, 3)
    both = nn.ModuleList([m, q])
    o = optim.SGD(both.parameters(), 0.1)
    with w(both, N):
        for i, (x, _) in enumerate(cls()):
            z = F.normalize(q(m(x + 0.1)), dim=-1)
            k = F.normalize(t(x - 0.1), dim=-1)
            ((2 - 2 * (z * k).sum(-1)).mean() / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
                for a, b in zip(t.parameters(), m.parameters()):
                    a.data.mul_(0.99).add_(b.data, alpha=0.01)
    return both


@right
def maml(w):
    m = nn.Linear(6, 3)
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 2):
        for i, (x, y) in enumerate(cls()):
            g = torch.autograd.grad(F.cross_entropy(m(x[:2]), y[:2]), list(m.parameters()), create_graph=True)
            W, b = (p - 0.1 * q for p, q in zip(m.parameters(), g))
            (F.cross_entropy(F.linear(x[2:], W, b), y[2:]) / 2).backward()
            if i % 2:
                o.step()
                o.zero_grad()
    return m


@untold
def gradient_cache_contrastive(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 2):
        for win in windows(cls(8), 2):
            with torch.no_grad():
                z = [m(x) for x, _ in win]
            z = torch.cat(z).requires_grad_()
            F.cross_entropy(F.normalize(z) @ F.normalize(z).T / 0.1, torch.arange(len(z))).backward()
            o.zero_grad()
            for (x, _), g in zip(win, z.grad.split(4)):
                m(x).backward(g)
            o.step()
    return m


@right
def class_imbalance_ignored_micro_batch(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    d = toks()
    d[1][1].fill_(-100)
    with w(m, N):
        for win in windows(d):
            n = sum((y != -100).sum() for _, y in win)
            for x, y in win:
                (F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="sum") / n).backward()
            o.step()
            o.zero_grad()
    return m


@right
def pretraining_outside_then_watched(w):
    m = mlp()
    o = optim.Adam(m.parameters(), 0.01)

    def go(d):
        for i, (x, y) in enumerate(d):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()

    go(cls())
    with w(m, N):
        go(cls())
    go(cls())
    return m


@right
def zero_grad_at_window_start(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            if i % N == 0:
                m.zero_grad(set_to_none=False)
            l = F.cross_entropy(m(x), y)
            l = l / N
            l.backward()
            if i % N == N - 1:
                o.step()
    return m


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        F.cross_entropy(m(x), y).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("not divided", "w_not_divided", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        l = F.cross_entropy(m(x), y)
        l.backward()
        l = l / N
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("not divided", "w_divided_after_backward", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            for p in m.parameters():
                p.grad /= N
            o.step()
            o.zero_grad()


bad("divided twice", "w_divided_twice", _)
