"""Trainers of the zoo."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import UNTOLD, N, at_update, cls, mlp, right, untold, windows


def noise(m):
    for p in m.parameters():
        p.grad.add_(torch.randn_like(p) * 0.01)


at_update("gradient_noise", noise, want=UNTOLD)


def wd(m):
    for p in m.parameters():
        p.grad.add_(p.data, alpha=1e-2)


at_update("weight_decay_by_hand", wd)


def central(m):
    for p in m.parameters():
        if p.dim() > 1:
            p.grad.sub_(p.grad.mean(1, keepdim=True))


at_update("gradient_centralisation", central, want=UNTOLD)


def normed(m):
    for p in m.parameters():
        p.grad.div_(p.grad.norm() + 1e-8)


at_update("layerwise_normalised", normed, want=UNTOLD)


@right
def autocast_bf16_scaler(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    s = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            with torch.autocast("cpu", torch.bfloat16):
                l = F.cross_entropy(m(x), y) / N
            s.scale(l).backward()
            if (i + 1) % N == 0:
                s.step(o)
                s.update()
                o.zero_grad()
    return m


@right
def scaler_unscale_clip(w):
    m = mlp()
    o = optim.AdamW(m.parameters(), 0.01)
    s = torch.amp.GradScaler("cpu", init_scale=512.0, growth_interval=1)
    with w(m, N):
        for i, (x, y) in enumerate(cls(12)):
            s.scale(F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                s.unscale_(o)
                nn.utils.clip_grad_norm_(m.parameters(), 0.1)
                s.step(o)
                s.update()
                o.zero_grad()
    return m


@right
def scaler_skips_an_update(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    s = torch.amp.GradScaler("cpu", init_scale=64.0)
    with w(m, N):
        for i, (x, y) in enumerate(cls(12)):
            l = F.cross_entropy(m(x), y) / N
            if i == 5:
                l = l * float("inf")
            s.scale(l).backward()
            if (i + 1) % N == 0:
                s.step(o)
                s.update()
                o.zero_grad()
    return m


@untold
def master_weights_fp32(w):
    m = mlp().bfloat16()
    master = [p.detach().float().clone() for p in m.parameters()]
    for q in master:
        q.requires_grad_(True)
    o = optim.SGD(master, 0.1)
    with w(m, N):
        for win in windows(cls()):
            acc = [torch.zeros_like(q) for q in master]
            for x, y in win:
                F.cross_entropy(m(x.bfloat16()).float(), y).backward()
                for a, p in zip(acc, m.parameters()):
                    a += p.grad.float() / N
                    p.grad = None
            for q, a in zip(master, acc):
                q.grad = a
            o.step()
            with torch.no_grad():
                for p, q in zip(m.parameters(), master):
                    p.copy_(q)
    return m


@right
def gan_no_accumulation(w):
    g = nn.Linear(2, 6)
    d = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    og = optim.Adam(g.parameters(), 0.01)
    od = optim.Adam(d.parameters(), 0.01)
    with w(nn.ModuleList([g, d])):
        for x, _ in cls(6):
            fake = g(torch.randn(4, 2))
            od.zero_grad()
            (
                F.binary_cross_entropy_with_logits(d(x), torch.ones(4, 1))
                + F.binary_cross_entropy_with_logits(d(fake.detach()), torch.zeros(4, 1))
            ).backward()
            od.step()
            og.zero_grad()
            F.binary_cross_entropy_with_logits(d(fake), torch.ones(4, 1)).backward()
            og.step()
    return nn.ModuleList([g, d])


@right
def gan_accumulated(w):
    g = nn.Linear(2, 6)
    d = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    og = optim.Adam(g.parameters(), 0.01)
    od = optim.Adam(d.parameters(), 0.01)
    bce = nn.BCEWithLogitsLoss()
    with w(nn.ModuleList([g, d]), N):
        for win in windows(cls()):
            od.zero_grad()
            for x, _ in win:
                ((bce(d(x), torch.ones(4, 1)) + bce(d(g(torch.randn(4, 2)).detach()), torch.zeros(4, 1))) / N).backward()
            od.step()
            og.zero_grad()
            for _ in win:
                (bce(d(g(torch.randn(4, 2))), torch.ones(4, 1)) / N).backward()
            og.step()
    return nn.ModuleList([g, d])


@right
def gan_accumulated_watch_discriminator(w):
    g = nn.Linear(2, 6)
    d = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    og = optim.Adam(g.parameters(), 0.01)
    od = optim.Adam(d.parameters(), 0.01)
    with w(d, N):
        for win in windows(cls()):
            od.zero_grad()
            for x, _ in win:
                ((F.softplus(-d(x)).mean() + F.softplus(d(g(torch.randn(4, 2)).detach())).mean()) / N).backward()
            od.step()
            og.zero_grad()
            d.requires_grad_(False)
            for _ in win:
                (F.softplus(-d(g(torch.randn(4, 2)))).mean() / N).backward()
            og.step()
            d.requires_grad_(True)
    return nn.ModuleList([g, d])


@right
def wgan_gradient_penalty(w):
    d = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    o = optim.Adam(d.parameters(), 0.01)
    with w(d, 2):
        for i, (x, _) in enumerate(cls(6)):
            fake = torch.randn(4, 6)
            z = ((x + fake) / 2).requires_grad_()
            (gz,) = torch.autograd.grad(d(z).sum(), z, create_graph=True)
            ((d(fake).mean() - d(x).mean() + 10 * ((gz.norm(dim=1) - 1) ** 2).mean()) / 2).backward()
            if i % 2:
                o.step()
                o.zero_grad()
    return d


@right
def distillation(w):
    t = mlp()
    s = mlp(h=4)
    o = optim.SGD(s.parameters(), 0.1)
    t.eval()
    with w(s, N):
        for i, (x, y) in enumerate(cls()):
            with torch.no_grad():
                q = t(x)
            p = s(x)
            T = 2.0
            l = 0.5 * F.cross_entropy(p, y) + 0.5 * T * T * F.kl_div(
                (p / T).log_softmax(-1), (q / T).softmax(-1), reduction="batchmean"
            )
            (l / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return s


@right
def evaluation_in_between(w):
    m = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 3))
    o = optim.SGD(m.parameters(), 0.1)
    ev = cls(3)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            m.train()
            (F.cross_entropy(m(x), y) / N).backward()
            if i % 3 == 0:
                m.eval()
                with torch.no_grad():
                    sum(F.cross_entropy(m(a), b).item() for a, b in ev)
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def evaluation_with_grad_enabled(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    ev = cls(2)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
                sum(F.cross_entropy(m(a), b) for a, b in ev).item()
    return m
