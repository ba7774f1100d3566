"""Trainers of the zoo."""

from __future__ import annotations

import copy

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
from zoo_entries import N, cls, mlp, right, untold, windows


@right
def ema_copy(w):
    m = mlp()
    e = copy.deepcopy(m)
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
                with torch.no_grad():
                    for a, b in zip(e.parameters(), m.parameters()):
                        a.lerp_(b, 0.1)
    return nn.ModuleList([m, e])


@right
def swa(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    a = optim.swa_utils.AveragedModel(m)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                a.update_parameters(m)
                o.zero_grad()
    return m


@right
def ema_weights_swapped_for_evaluation(w):
    m = mlp()
    e = {k: v.clone() for k, v in m.state_dict().items()}
    o = optim.SGD(m.parameters(), 0.1)
    ev = cls(1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
                for k, v in m.state_dict().items():
                    e[k].lerp_(v, 0.2)
                keep = {k: v.clone() for k, v in m.state_dict().items()}
                m.load_state_dict(e)
                with torch.no_grad():
                    F.cross_entropy(m(ev[0][0]), ev[0][1])
                m.load_state_dict(keep)
    return m


@right
def lookahead(w):
    m = mlp()
    slow = [p.detach().clone() for p in m.parameters()]
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 2):
        for i, (x, y) in enumerate(cls(12)):
            (F.cross_entropy(m(x), y) / 2).backward()
            if (i + 1) % 2 == 0:
                o.step()
                o.zero_grad()
            if (i + 1) % 4 == 0:
                with torch.no_grad():
                    for s, p in zip(slow, m.parameters()):
                        s.lerp_(p, 0.5)
                        p.copy_(s)
    return m


@untold
def sam(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m):
        for x, y in cls():
            F.cross_entropy(m(x), y).backward()
            with torch.no_grad():
                eps = [0.05 * p.grad / p.grad.norm() for p in m.parameters()]
                for p, e in zip(m.parameters(), eps):
                    p.add_(e)
            o.zero_grad()
            F.cross_entropy(m(x), y).backward()
            with torch.no_grad():
                for p, e in zip(m.parameters(), eps):
                    p.sub_(e)
            o.step()
            o.zero_grad()
    return m


@right
def frozen_backbone(w):
    m = mlp()
    m[0].requires_grad_(False)
    o = optim.SGD([p for p in m.parameters() if p.requires_grad], 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def unfreeze_later(w):
    m = mlp()
    m[0].requires_grad_(False)
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 2):
        for e in range(2):
            if e:
                m[0].requires_grad_(True)
            for i, (x, y) in enumerate(cls(4)):
                (F.cross_entropy(m(x), y) / 2).backward()
                if i % 2:
                    o.step()
                    o.zero_grad()
    return m


@right
def unused_head(w):
    m = nn.ModuleDict({"body": mlp(), "spare": nn.Linear(8, 2)})
    o = optim.AdamW(m.parameters(), 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m["body"](x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def lora(w):
    class L(nn.Module):
        def __init__(s):
            super().__init__()
            s.base = nn.Linear(6, 3)
            s.base.requires_grad_(False)
            s.a = nn.Parameter(torch.randn(6, 2) * 0.1)
            s.b = nn.Parameter(torch.zeros(2, 3))

        def forward(s, x):
            return s.base(x) + x @ s.a @ s.b

    m = L()
    o = optim.AdamW([m.a, m.b], 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(cls(12)):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def random_experts(w):
    m = nn.ModuleList([mlp() for _ in range(3)])
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            k = int(torch.randint(0, 3, ()))
            (F.cross_entropy(m[k](x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def tasks_alternate_by_window(w):
    m = nn.ModuleDict({"t": nn.Linear(6, 8), "a": nn.Linear(8, 3), "b": nn.Linear(8, 3)})
    o = optim.Adam(m.parameters(), 0.01)
    with w(m, 2):
        for k, win in enumerate(windows(cls(), 2)):
            for x, y in win:
                h = m["t"](x).relu()
                l = F.cross_entropy(m["a"](h), y) if k % 2 else F.mse_loss(m["b"](h), F.one_hot(y, 3).float())
                (l / 2).backward()
            o.step()
            o.zero_grad()
    return m


@untold
def tasks_alternate_inside_window(w):
    m = nn.ModuleDict({"t": nn.Linear(6, 8), "a": nn.Linear(8, 3), "b": nn.Linear(8, 3)})
    o = optim.Adam(m.parameters(), 0.01)
    with w(m, N):
        for k, (x, y) in enumerate(cls()):
            h = m["t"](x).relu()
            l = F.cross_entropy(m["a"](h), y) if k % 2 else F.mse_loss(m["b"](h), F.one_hot(y, 3).float())
            (l / N).backward()
            if (k + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def dataloader_leftover_by_own_size(w):
    ds = TensorDataset(torch.randn(28, 6), torch.randint(0, 3, (28,)))
    dl = DataLoader(ds, 4, shuffle=True, generator=torch.Generator().manual_seed(1))
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 3):
        for _ in range(2):
            for i, (x, y) in enumerate(dl):
                n = min(3, len(dl) - i // 3 * 3)
                (F.cross_entropy(m(x), y) / n).backward()
                if (i + 1) % 3 == 0 or i + 1 == len(dl):
                    o.step()
                    o.zero_grad()
    return m


@right
def growing_window(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    d = iter(cls(14))
    with w(m):
        for n in (1, 1, 4, 4, 4):
            for _ in range(n):
                x, y = next(d)
                (F.cross_entropy(m(x), y) / n).backward()
            o.step()
            o.zero_grad()
    return m


@right
def window_of_300(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, 300):
        for i, (x, y) in enumerate(cls(600, 1)):
            (F.cross_entropy(m(x), y) / 300).backward()
            if (i + 1) % 300 == 0:
                o.step()
                o.zero_grad()
    return m
