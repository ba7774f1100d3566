"""Trainers of the zoo."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import N, cls, mlp, right, windows, wrong


@wrong("not divided (BatchNorm, clipped)")
def w_batchnorm_clipped_not_divided(w):
    m = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x), y).backward()
            if (i + 1) % N == 0:
                nn.utils.clip_grad_norm_(m.parameters(), 10.0)
                o.step()
                o.zero_grad()
    return m


@wrong("cleared every backward (big window)")
def w_big_window_misses_one(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 100):
        for i, (x, y) in enumerate(cls(200, 1)):
            if i % 100 == 1:
                o.zero_grad()
            (F.cross_entropy(m(x), y) / 100).backward()
            if (i + 1) % 100 == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("cleared before (first micro-batch lost), autograd.grad")
def w_buffer_overwritten_by_first(w):
    m = mlp()
    ps = list(m.parameters())
    with w(m, N):
        for win in windows(cls()):
            buf = []
            for k, (x, y) in enumerate(win):
                g = torch.autograd.grad(F.cross_entropy(m(x), y) / N, ps)
                buf = list(g) if k <= 1 else [a + b for a, b in zip(buf, g)]
            with torch.no_grad():
                for p, b in zip(ps, buf):
                    p -= 0.1 * b
    return m


@wrong("window count over epochs")
def w_counter_restarts_mid_window(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    d = cls(6)
    with w(m, N):
        for e in range(3):
            for i, (x, y) in enumerate(d):
                (F.cross_entropy(m(x), y) / N).backward()
                if i % N == N - 1:
                    o.step()
                    o.zero_grad()
    return m


@wrong("distillation term not divided")
def w_distillation_term_not_divided(w):
    t = mlp()
    s = mlp(h=4)
    o = optim.SGD(s.parameters(), 0.1)
    with w(s, N):
        for i, (x, y) in enumerate(cls()):
            with torch.no_grad():
                q = t(x).softmax(-1)
            p = s(x)
            (F.cross_entropy(p, y) / N + F.kl_div(p.log_softmax(-1), q, reduction="batchmean")).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return s


@right
def dcgan_two_backwards_for_the_discriminator(w):
    g = nn.Linear(2, 6)
    d = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    og = optim.Adam(g.parameters(), 0.01)
    od = optim.Adam(d.parameters(), 0.01)
    bce = nn.BCEWithLogitsLoss()
    with w(nn.ModuleList([g, d])):
        for x, _ in cls(6):
            d.zero_grad()
            real = bce(d(x), torch.ones(4, 1))
            real.backward()
            fake = g(torch.randn(4, 2))
            made = bce(d(fake.detach()), torch.zeros(4, 1))
            made.backward()
            od.step()
            g.zero_grad()
            fooled = bce(d(fake), torch.ones(4, 1))
            fooled.backward()
            og.step()
    return nn.ModuleList([g, d])


@right
def dcgan_accumulated(w):
    g = nn.Linear(2, 6)
    d = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    od = optim.Adam(d.parameters(), 0.01)
    bce = nn.BCEWithLogitsLoss()
    with w(d, N):
        for win in windows(cls()):
            od.zero_grad()
            for x, _ in win:
                (bce(d(x), torch.ones(4, 1)) / N).backward()
                (bce(d(g(torch.randn(4, 2)).detach()), torch.zeros(4, 1)) / N).backward()
            od.step()
    return d


@right
def hinge_discriminator_written_by_hand(w):
    d = nn.Linear(6, 1)
    o = optim.SGD(d.parameters(), 0.1)
    with w(d):
        for x, _ in cls(6):
            o.zero_grad()
            torch.relu(1 - d(x)).mean().backward()
            torch.relu(1 + d(-x)).mean().backward()
            o.step()
    return d


@right
def wgan_with_clipped_weights(w):
    d = nn.Linear(6, 1)
    o = optim.RMSprop(d.parameters(), 0.01)
    with w(d, 2):
        for i, (x, _) in enumerate(cls(8)):
            ((d(-x).mean() - d(x).mean()) / 2).backward()
            if i % 2:
                o.step()
                o.zero_grad()
                for p in d.parameters():
                    p.data.clamp_(-0.1, 0.1)
    return d


def branches(n):
    def f(w):
        m = mlp()
        o = optim.SGD(m.parameters(), 0.1)
        with w(m, n):
            for i, (x, y) in enumerate(cls()):
                if (i + 1) % n:
                    loss = F.cross_entropy(m(x), y)
                    (loss / n).backward()
                else:
                    loss = F.cross_entropy(m(x), y)
                    (loss / n).backward()
                    o.step()
                    o.zero_grad()
        return m

    f.__name__ = f"last_micro_batch_in_a_branch_of_its_own_{n}"
    right(f)


branches(4)
branches(2)


@right
def gradients_normalised_to_length_one(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls(12)):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                norm = torch.stack([p.grad.norm() for p in m.parameters()]).norm()
                for p in m.parameters():
                    p.grad /= norm
                o.step()
                o.zero_grad()
    return m


@right
def update_skipped_by_hand_when_gradients_overflow(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls(12)):
            if i == 5:
                x = x * float("inf")
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                if torch.isfinite(nn.utils.clip_grad_norm_(m.parameters(), 1.0)):
                    o.step()
                o.zero_grad()
    return m


class Engine:
    def __init__(s, n):
        s.n = n

    def backward(s, loss):
        (loss / s.n).backward()


@right
def engine_calls_backward_for_two_losses(w):
    d = nn.Linear(6, 1)
    o = optim.SGD(d.parameters(), 0.1)
    e = Engine(2)
    with w(d, 2):
        for i, (x, _) in enumerate(cls()):
            e.backward(torch.relu(1 - d(x)).mean())
            e.backward(torch.relu(1 + d(-x)).mean())
            if i % 2:
                o.step()
                o.zero_grad()
    return d


@right
def parameters_watched_and_one_backward(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m.parameters(), N):
        for win in windows(cls()):
            o.zero_grad()
            loss = sum(F.cross_entropy(m(x), y) for x, y in win) / N
            loss.backward()
            o.step()
    return m
