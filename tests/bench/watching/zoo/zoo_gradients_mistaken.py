"""Trainers of the zoo."""

from __future__ import annotations

import contextlib

import torch
from torch import optim
from torch.nn import functional as F
from zoo_entries import DUE, LM, UNTOLD, N, bad, toks, windows, wrong


def _(m, o, d):
    for i in range(8):
        x, y = d[i // N]
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("same micro-batch repeated", "w_same_repeated", _)


def _(m, o, d):
    for win in windows(d):
        for k, (x, y) in enumerate(win):
            with torch.no_grad() if k < 3 else contextlib.nullcontext():
                l = F.cross_entropy(m(x), y) / N
            if l.requires_grad:
                l.backward()
        o.step()
        o.zero_grad()


bad("detached", "w_no_grad_for_all_but_last", _)


def _(m, o, d):
    for win in windows(d):
        t = 0
        for x, y in win:
            t = t.detach() if torch.is_tensor(t) else t
            t = t + F.cross_entropy(m(x), y) / N
        t.backward()
        o.step()
        o.zero_grad()


bad("detached", "w_running_total_detached", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        h = m[0](x).tanh()
        h = h if (i + 1) % N == 0 else h.detach()
        (F.cross_entropy(m[2](h), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("encoder detached but for the last", "w_encoder_detached", _, want=DUE, words="Only the last micro-batch")


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad(set_to_none=False)
            o.step()


bad("empty update", "w_empty_update", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.step()
            o.zero_grad()


bad("step twice", "w_step_twice", _)


def _(m, o, d):
    for win in windows(d):
        t = 0
        for x, y in win:
            t = t + F.cross_entropy(m(x), y) / N
            t.backward(retain_graph=True)
        o.step()
        o.zero_grad()


bad("retained graph", "w_running_sum_backward", _)


def _(m, o, d=10):
    for i, (x, y) in enumerate(d):
        if i in (2, 7):
            x = x * float("nan")
        l = F.cross_entropy(m(x), y) / N
        if l.isfinite():
            l.backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("NaN skipped but counted", "w_nan_skipped_but_counted", _)


def _(m, o, d):
    ps = list(m.parameters())
    buf = [torch.zeros_like(p) for p in ps]
    for i, (x, y) in enumerate(d):
        for b, g in zip(buf, torch.autograd.grad(F.cross_entropy(m(x), y) / N, ps)):
            b += g
        if (i + 1) % N == 0:
            with torch.no_grad():
                for p, b in zip(ps, buf):
                    p -= 0.1 * b


bad("own buffer never cleared", "w_own_buffer_never_cleared", _, want=UNTOLD)


def _(m, o, d):
    buf = None
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        g = [p.grad.clone() for p in m.parameters()]
        buf = g if buf is None else [a + b for a, b in zip(buf, g)]
        if (i + 1) % N == 0:
            for p, b in zip(m.parameters(), buf):
                p.grad = b
            o.step()
            o.zero_grad()
            buf = None


bad("own buffer adds running sums", "w_own_buffer_sums_running_grad", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        l = F.cross_entropy(m(x), y)
        if (i + 1) % N == 0:
            l = l / N
        l.backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("only last divided", "w_only_last_divided", _)


def _(m, o, d):
    for p in m.parameters():
        p.register_hook(lambda g: g / N)
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("divided twice (hook)", "w_hook_divides_too", _)


def _(m, o, d):
    ps = list(m.parameters())
    for win in windows(d):
        avg = None
        for x, y in win:
            g = torch.autograd.grad(F.cross_entropy(m(x), y), ps)
            avg = list(g) if avg is None else [(a + b) / 2 for a, b in zip(avg, g)]
        for p, a in zip(ps, avg):
            p.grad = a
        o.step()


bad("running average halves", "w_running_average_halves", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        x2 = x[::2]
        (F.cross_entropy(m(x2), y[::2]) / N / 2 + F.cross_entropy(m(x[:1]), y[:1]) / N / 2).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 2:
            with torch.no_grad():
                for p in m.parameters():
                    p.mul_(0.9)
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("parameters change inside a window", "w_decay_inside_window", _, want=UNTOLD)


@wrong("mean of means over tokens")
def w_mean_of_token_means(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(toks()):
            (F.cross_entropy(m(x).flatten(0, 1), y.flatten()) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("padding counted")
def w_padding_counted(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for i, (x, y) in enumerate(toks()):
            mask = y != -100
            l = F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="none").view_as(y) * mask
            (l.mean() / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()
    return m


@wrong("counted before the shift")
def w_tokens_before_shift(w):
    m = LM()
    o = optim.SGD(m.parameters(), 0.1)
    with w(m, N):
        for win in windows(toks()):
            n = sum((y != -100).sum() for _, y in win)
            for x, y in win:
                (F.cross_entropy(m(x)[:, :-1].flatten(0, 1), y[:, 1:].flatten(), reduction="sum") / n).backward()
            o.step()
            o.zero_grad()
    return m
