"""Trainers of the zoo."""

from __future__ import annotations

from torch import optim
from torch.nn import functional as F
from zoo_entries import N, cls, mlp, reg, right, windows, wrong


@right
def two_views_in_a_loop(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            l = 0
            for view in (x, x + 0.1):
                l = l + F.cross_entropy(m(view), y) / 2
            (l / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("summed over values, divided by samples, not by N")
def w_sum_over_samples_not_divided(w):
    m = mlp(5)
    o = optim.SGD(m.parameters(), 0.01)
    with w(m, N):
        for i, (x, y) in enumerate(reg(o=5)):
            (F.mse_loss(m(x), y, reduction="sum") / len(x)).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("sum of losses in one backward")
def w_one_backward_of_the_sum(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(cls()):
            o.zero_grad()
            sum(F.cross_entropy(m(x), y) for x, y in win).backward()
            o.step()
    return m


@wrong("encoder alone not divided")
def w_only_head_divided(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x), y).backward()
            if (i + 1) % N == 0:
                for p in m[2].parameters():
                    p.grad /= N
                o.step()
                o.zero_grad()
    return m


@wrong("window too wide")
def w_window_too_wide(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls(15)):
            (F.cross_entropy(m(x), y) / 5).backward()
            if (i + 1) % 5 == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("window too narrow")
def w_window_too_narrow(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls(8)):
            (F.cross_entropy(m(x), y) / 2).backward()
            if (i + 1) % 2 == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("divided by N at every backward")
def w_gradients_divided_at_every_backward(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x), y).backward()
            for p in m.parameters():
                p.grad /= N
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("a hook after accumulation divides again and again")
def w_hook_after_accumulation_divides(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)

    def divide(p):
        p.grad.div_(N)

    for p in m.parameters():
        p.register_post_accumulate_grad_hook(divide)
    with w(m, N):
        for i, (x, y) in enumerate(cls()):
            F.cross_entropy(m(x), y).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m
