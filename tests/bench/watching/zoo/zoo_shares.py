"""Trainers of the zoo."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import LM, VOCABULARY, N, cls, mlp, reg, right, toks, untold, windows


@right
def tokens_mean_times_share(w):
    m = LM(tied=True)
    o = optim.SGD(m.parameters(), 0.1)
    crit = nn.CrossEntropyLoss(ignore_index=0)
    with w(m, N):
        for win in windows(toks(pad=0)):
            total = sum(int((y != 0).sum()) for _, y in win)
            for x, y in win:
                loss = crit(m(x).transpose(1, 2), y)
                (loss * int((y != 0).sum()) / total).backward()
            o.step()
            o.zero_grad()
    return m


@right
def tokens_none_with_own_mask(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1, momentum=0.9)
    with w(m, N):
        for win in windows(toks(pad=0)):
            total = sum((y != 0).sum().item() for _, y in win)
            for x, y in win:
                mask = (y != 0).float()
                l = F.cross_entropy(m(x).reshape(-1, VOCABULARY), y.reshape(-1), reduction="none").view_as(mask)
                ((l * mask).sum() / total).backward()
            o.step()
            o.zero_grad()
    return m


@right
def tokens_boolean_indexing(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(toks()):
            total = sum((y != -100).sum().item() for _, y in win)
            for x, y in win:
                keep = y != -100
                (F.cross_entropy(m(x)[keep], y[keep], reduction="sum") / total).backward()
            o.step()
            o.zero_grad()
    return m


@right
def gradients_divided_by_tokens_at_the_end(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    seen = 0
    with w(m, N):
        for i, (x, y) in enumerate(toks()):
            F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="sum").backward()
            seen += (y != -100).sum()
            if i % N == N - 1:
                for p in m.parameters():
                    p.grad.div_(seen)
                o.step()
                m.zero_grad()
                seen = 0
    return m


@right
def hf_style_shift_in_forward(w):
    class CLM(LM):
        def forward(s, ids, labels, num=None):
            logits = super().forward(ids)[:, :-1]
            t = labels[:, 1:]
            l = F.cross_entropy(logits.reshape(-1, VOCABULARY), t.reshape(-1), reduction="sum", ignore_index=-100)
            return {"loss": l / num, "logits": logits}

    m = CLM()
    o = optim.AdamW(m.parameters(), 0.01)
    with w(m, N):
        for win in windows(toks()):
            num = sum((y[:, 1:] != -100).sum() for _, y in win)
            for x, y in win:
                m(x, labels=y, num=num)["loss"].backward()
            o.step()
            o.zero_grad()
    return m


@right
def class_weights_over_total_weight(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    cw = torch.tensor([1.0, 2.0, 5.0])
    with w(m, N):
        for win in windows(cls()):
            tot = sum(cw[y].sum() for _, y in win)
            for x, y in win:
                (F.cross_entropy(m(x), y, weight=cw, reduction="sum") / tot).backward()
            o.step()
            o.zero_grad()
    return m


@untold
def importance_weights_over_samples(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(cls()):
            for x, y in win:
                l = F.cross_entropy(m(x), y, reduction="none") * torch.rand(len(y))
                (l.mean() / N).backward()
            o.step()
            o.zero_grad()
    return m


@right
def one_backward_of_the_mean_of_losses(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(cls()):
            o.zero_grad()
            torch.stack([F.cross_entropy(m(x), y) for x, y in win]).mean().backward()
            o.step()
    return m


@right
def outputs_concatenated_one_loss(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(cls()):
            out = torch.cat([m(x) for x, _ in win])
            o.zero_grad()
            F.cross_entropy(out, torch.cat([y for _, y in win])).backward()
            o.step()
    return m


@right
def backward_with_gradient_argument(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(cls()):
            for x, y in win:
                l = F.cross_entropy(m(x), y, reduction="none")
                l.backward(torch.full_like(l, 1 / (N * len(l))))
            o.step()
            o.zero_grad()
    return m


@right
def autograd_backward_of_two(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(reg()):
            for x, y in win:
                p = m(x)
                torch.autograd.backward([F.mse_loss(p, y) / N, F.l1_loss(p, y) / N])
            o.step()
            o.zero_grad()
    return m


@right
def two_backwards_on_one_trunk(w):
    trunk = nn.Linear(6, 8)
    a = nn.Linear(8, 3)
    b = nn.Linear(8, 3)
    m = nn.ModuleDict({"t": trunk, "a": a, "b": b})
    o = optim.Adam(m.parameters(), 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            h = torch.relu(trunk(x))
            (F.cross_entropy(a(h), y) / N).backward(retain_graph=True)
            (F.cross_entropy(b(h), (y + 1) % 3) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad(set_to_none=False)
    return m


@right
def regulariser_once_per_window(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            l = F.cross_entropy(m(x), y) / N
            if (i + 1) % N == 0:
                l = l + 1e-2 * sum((p**2).sum() for p in m.parameters())
            l.backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def regulariser_every_micro_batch(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            ((F.cross_entropy(m(x), y) + 1e-2 * sum(p.abs().sum() for p in m.parameters())) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def lbfgs_closure(w):
    m = mlp(1)
    o = optim.LBFGS(m.parameters(), lr=0.1, max_iter=3)
    d = reg(8, o=1)
    with w(m, N):
        for win in windows(d):

            def closure():
                o.zero_grad()
                t = 0.0
                for x, y in win:
                    l = F.mse_loss(m(x), y) / N
                    l.backward()
                    t += l.item()
                return t

            o.step(closure)
    return m


@right
def sgd_closure(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(cls()):

            def closure():
                o.zero_grad()
                l = sum(F.cross_entropy(m(x), y) for x, y in win) / len(win)
                l.backward()
                return l

            o.step(closure)
    return m
