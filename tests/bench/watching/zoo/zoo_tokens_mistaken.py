"""Trainers of the zoo."""

from __future__ import annotations

import copy

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
from zoo_entries import LM, N, cls, mlp, reg, toks, untold, windows, wrong


@untold
def w_per_sequence_means(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(toks()):
            mask = (y != -100).float()
            l = F.cross_entropy(m(x).transpose(1, 2), y, reduction="none")
            ((l.sum(1) / mask.sum(1)).mean() / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("total of the previous window")
def w_previous_total(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    d = toks(16)
    total = sum((y != -100).sum().item() for _, y in d[:N])
    d = d[:]
    with w(m, N):
        for win in windows(d):
            now = 0
            for x, y in win:
                (F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="sum") / total).backward()
                now += (y != -100).sum().item()
            o.step()
            o.zero_grad()
            total = now
    return m


@wrong("divided by the micro-batch's tokens and summed")
def w_tokens_mean_not_divided(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(toks()):
            F.cross_entropy(m(x).flatten(0, 1), y.flatten()).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("divided by tokens and N")
def w_tokens_total_and_N(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(toks()):
            n = sum((y != -100).sum() for _, y in win)
            for x, y in win:
                (F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="sum") / n / N).backward()
            o.step()
            o.zero_grad()
    return m


@wrong("mean of means over ragged samples")
def w_ragged_mean_of_means(w):
    ds = TensorDataset(torch.randn(18, 6), torch.randint(0, 3, (18,)))
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    dl = DataLoader(ds, 4)
    with w(m, 5):
        for _ in range(2):
            for i, (x, y) in enumerate(dl):
                (F.cross_entropy(m(x), y) / 5).backward()
                if (i + 1) % 5 == 0:
                    o.step()
                    o.zero_grad()
    return m


@wrong("samples counted by the nominal batch size")
def w_sum_over_nominal_size(w):
    ds = TensorDataset(torch.randn(22, 6), torch.randn(22, 3))
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    dl = DataLoader(ds, 4)
    with w(m, 3):
        for _ in range(2):
            for i, (x, y) in enumerate(dl):
                (F.mse_loss(m(x), y, reduction="sum") / (3 * 4 * 3)).backward()
                if (i + 1) % 3 == 0:
                    o.step()
                    o.zero_grad()
    return m


@wrong("class weights mean of means")
def w_class_weights_mean_of_means(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    c = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 4.0, 20.0]))
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (c(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("discriminator not cleared")
def w_gan_generator_leaks_into_discriminator(w):
    g = nn.Linear(2, 6)
    d = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    og = optim.Adam(g.parameters(), 0.01)
    od = optim.Adam(d.parameters(), 0.01)
    bce = nn.BCEWithLogitsLoss()
    with w(d):
        for x, _ in cls(6):
            fake = g(torch.randn(4, 2))
            (bce(d(x), torch.ones(4, 1)) + bce(d(fake.detach()), torch.zeros(4, 1))).backward()
            od.step()
            od.zero_grad()
            og.zero_grad()
            bce(d(fake), torch.ones(4, 1)).backward()
            og.step()
    return nn.ModuleList([g, d])


@wrong("skipped update not cleared")
def w_scaler_skip_without_clearing(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    s = torch.amp.GradScaler("cpu", init_scale=64.0)
    with w(m, N):
        for i, (x, y) in enumerate(cls(16)):
            s.scale(F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                s.unscale_(o)
                nn.utils.clip_grad_norm_(m.parameters(), 1.0)
                if i == 7:
                    s.update()
                    continue
                s.step(o)
                s.update()
                o.zero_grad()
    return m


@wrong("optimizer of an old copy")
def w_optimizer_of_old_copy(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    m = copy.deepcopy(m)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("LBFGS closure never clears")
def w_lbfgs_never_clears(w):
    m = mlp(1)
    o = optim.LBFGS(m.parameters(), lr=0.01, max_iter=3)
    d = reg(8, o=1)
    with w(m, N):
        for win in windows(d):

            def closure():
                t = 0
                for x, y in win:
                    l = F.mse_loss(m(x), y) / N
                    l.backward()
                    t += l.item()
                return t

            o.step(closure)
    return m


@wrong("head apart stepped every micro-batch")
def w_one_optimizer_steps_every(w):
    m = mlp()
    oa = optim.SGD(m[0].parameters(), 0.1)
    ob = optim.SGD(m[2].parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            ob.step()
            ob.zero_grad()
            if (i + 1) % N == 0:
                oa.step()
                oa.zero_grad()
    return m


@wrong("not divided (mse, Adam)")
def w_mse_adam_not_divided(w):
    m = mlp()
    o = optim.Adam(m.parameters(), 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(reg()):
            nn.MSELoss()(m(x), y).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("not divided (autocast)")
def w_autocast_not_divided(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    s = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            with torch.autocast("cpu", torch.bfloat16):
                l = F.cross_entropy(m(x), y)
            s.scale(l).backward()
            if (i + 1) % N == 0:
                s.step(o)
                s.update()
                o.zero_grad()
    return m


@untold
def w_handwritten_by_hand_not_divided(w):
    m = mlp()
    with w(m, N):
        for win in windows(reg()):
            for x, y in win:
                (m(x) - y).square().mean().backward()
            with torch.no_grad():
                for p in m.parameters():
                    p -= 0.1 * p.grad
            m.zero_grad()
    return m


@wrong("not divided (bf16 model)")
def w_bf16_not_divided(w):
    m = mlp().bfloat16()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x.bfloat16()), y).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m
