"""Trainers of the zoo."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import N, at_update, cls, mlp, right, untold, windows


@right
def two_optimizers(w):
    m = mlp()
    oa = optim.SGD(m[0].parameters(), 0.1)
    ob = optim.Adam(m[2].parameters(), 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                for o in (oa, ob):
                    o.step()
                for o in (oa, ob):
                    o.zero_grad()
    return m


@right
def parameter_groups_and_schedule(w):
    m = mlp()
    o = optim.AdamW([{"params": m[0].parameters(), "lr": 0.001}, {"params": m[2].parameters(), "weight_decay": 0}], 0.01)
    s = optim.lr_scheduler.OneCycleLR(o, [0.01, 0.02], total_steps=4)
    with w(m, N):
        for i, (x, y) in enumerate(cls(12)):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                s.step()
                o.zero_grad()
    return m


class SignSGD(optim.Optimizer):
    def __init__(s, p, lr):
        super().__init__(p, {"lr": lr})

    @torch.no_grad()
    def step(s, closure=None):
        for g in s.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    p.sub_(g["lr"] * p.grad.sign())


@right
def own_optimizer(w):
    m = mlp()
    o = SignSGD(m.parameters(), 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def by_hand_data(w):
    m = mlp()
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                for p in m.parameters():
                    p.data -= 0.1 * p.grad
                    p.grad = None
    return m


@right
def by_hand_no_grad_add(w):
    m = mlp()
    mom = [torch.zeros_like(p) for p in m.parameters()]
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                with torch.no_grad():
                    for p, v in zip(m.parameters(), mom):
                        v.mul_(0.9).add_(p.grad)
                        p.add_(v, alpha=-0.1)
                        p.grad.zero_()
    return m


@right
def by_hand_foreach(w):
    m = mlp()
    ps = list(m.parameters())
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                with torch.no_grad():
                    torch._foreach_add_(ps, [p.grad for p in ps], alpha=-0.1)
                m.zero_grad()
    return m


@right
def autograd_grad_own_buffers(w):
    m = mlp()
    ps = list(m.parameters())
    with w(m, N):
        for win in windows(cls()):
            buf = [torch.zeros_like(p) for p in ps]
            for x, y in win:
                for b, g in zip(buf, torch.autograd.grad(F.cross_entropy(m(x), y), ps)):
                    b += g / N
            with torch.no_grad():
                for p, b in zip(ps, buf):
                    p -= 0.1 * b
    return m


@right
def own_buffers_assigned_to_grad(w):
    m = mlp()
    o = optim.Adam(m.parameters(), 0.01)
    ps = list(m.parameters())
    with w(m, N):
        for win in windows(cls()):
            buf = [torch.zeros_like(p) for p in ps]
            for x, y in win:
                o.zero_grad()
                F.cross_entropy(m(x), y).backward()
                for b, p in zip(buf, ps):
                    b.add_(p.grad)
            for b, p in zip(buf, ps):
                p.grad = b / len(win)
            o.step()
    return m


@right
def running_mean_of_gradients(w):
    m = mlp()
    o = optim.Adam(m.parameters(), 0.01)
    ps = list(m.parameters())
    with w(m, N):
        for win in windows(cls()):
            avg = None
            for k, (x, y) in enumerate(win, 1):
                g = torch.autograd.grad(F.cross_entropy(m(x), y), ps)
                avg = list(g) if avg is None else [a + (b - a) / k for a, b in zip(avg, g)]
            for p, a in zip(ps, avg):
                p.grad = a
            o.step()
    return m


@untold
def torch_func_grad(w):
    m = mlp()
    params = dict(m.named_parameters())

    def f(p, x, y):
        return F.cross_entropy(torch.func.functional_call(m, p, (x,)), y)

    with w(m, N):
        for win in windows(cls()):
            acc = {k: torch.zeros_like(v) for k, v in params.items()}
            for x, y in win:
                g = torch.func.grad(f)({k: v.detach() for k, v in params.items()}, x, y)
                for k in acc:
                    acc[k] += g[k] / N
            with torch.no_grad():
                for k, v in params.items():
                    v -= 0.1 * acc[k]
    return m


@untold
def per_sample_gradients_dp(w):
    m = mlp()
    params = {k: v for k, v in m.named_parameters()}
    o = optim.SGD(m.parameters(), 0.1)

    def f(p, x, y):
        return F.cross_entropy(torch.func.functional_call(m, p, (x[None],)), y[None])

    g1 = torch.func.vmap(torch.func.grad(f), (None, 0, 0))
    with w(m, N):
        for win in windows(cls()):
            o.zero_grad()
            for x, y in win:
                g = g1({k: v.detach() for k, v in params.items()}, x, y)
                for k, p in params.items():
                    add_ = g[k].mean(0) / N
                    p.grad = add_ if p.grad is None else p.grad + add_
            o.step()
    return m


@right
def hook_divides(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    for p in m.parameters():
        p.register_hook(lambda g: g / N)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x), y).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@right
def optimizer_in_backward(w):
    m = mlp()
    opts = {p: optim.SGD([p], 0.1) for p in m.parameters()}

    def h(p):
        opts[p].step()
        opts[p].zero_grad()

    for p in m.parameters():
        p.register_post_accumulate_grad_hook(h)
    with w(m):
        for x, y in cls():
            F.cross_entropy(m(x), y).backward()
    return m


@right
def gradients_divided_at_the_end(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x), y).backward()
            if (i + 1) % N == 0:
                for p in m.parameters():
                    p.grad /= N
                o.step()
                o.zero_grad()
    return m


at_update("clip_norm", lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.05))

at_update("clip_value", lambda m: nn.utils.clip_grad_value_(m.parameters(), 0.01))


def hand_clip(m):
    n = torch.sqrt(sum((p.grad**2).sum() for p in m.parameters()))
    for p in m.parameters():
        p.grad.mul_(0.05 / max(n.item(), 0.05))


at_update("clip_by_hand", hand_clip)
