"""Trainers of the zoo."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import DUE, N, bad


def _(m, o, d=10):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0 or i + 1 == len(d):
            o.step()
            o.zero_grad()


bad("short leftover", "w_leftover_by_N", _)


def _(m, o, d=10):
    for e in range(2):
        o.zero_grad()
        for i, (x, y) in enumerate(d):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()


bad("leftover dropped", "w_leftover_dropped", _)


def _(m, o, d=10):
    for e in range(2):
        for i, (x, y) in enumerate(d):
            (F.cross_entropy(m(x), y) / N).backward()
            if (i + 1) % N == 0:
                o.step()
                o.zero_grad()


bad("leftover kept", "w_leftover_kept", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        o.zero_grad()
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()


bad("clear every backward", "w_clear_every_backward", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()


bad("never cleared", "w_never_cleared", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.zero_grad()
            o.step()


bad("clear before step", "w_clear_before_step", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        if (i + 1) % N == 0:
            o.zero_grad()
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()


bad("clear before the last backward", "w_clear_before_last_backward", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        o.zero_grad()
        (F.cross_entropy(m(x), y) / N).backward()
        o.step()


bad("step every micro-batch", "w_step_every", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        o.step()
        if (i + 1) % N == 0:
            o.zero_grad()


bad("step every, clear per window", "w_step_every_clear_per_window", _)


def _(m, o, d=12):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if i % N == 0:
            o.step()
            o.zero_grad()


bad("off by one", "w_off_by_one", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        m[0].zero_grad() if i % 2 else None
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("encoder cleared apart", "w_encoder_cleared_apart", _)


def _(m, o, d):
    o2 = optim.SGD(m[2].parameters(), 0.1)
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o2.step()
            m.zero_grad()


bad("encoder never updated", "w_encoder_never_updated", _)


def _(m, o, d):
    o2 = optim.SGD(m[2].parameters(), 0.1)
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o2.zero_grad()


bad("encoder never cleared", "w_encoder_never_cleared", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        p = m(x)
        (F.cross_entropy(p, y) / N + 0.3 * (p**2).mean()).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("one of several losses not divided", "w_second_loss_not_divided", _, want=DUE, words="is added to losses")


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        p = m(x)
        (F.cross_entropy(p, y) / N + 0.3 * F.mse_loss(p, F.one_hot(y, 3).float())).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("one of several losses not divided", "w_second_known_loss_not_divided", _, want=DUE, words="is not divided by")


def _(m, o, d):
    s = torch.amp.GradScaler("cpu", init_scale=256.0)
    for i, (x, y) in enumerate(d):
        s.scale(F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("still scaled", "w_still_scaled", _)


def _(m, o, d):
    s = torch.amp.GradScaler("cpu", init_scale=256.0)
    for i, (x, y) in enumerate(d):
        s.scale(F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            for p in m.parameters():
                p.grad /= s.get_scale()
            s.step(o)
            s.update()
            o.zero_grad()


bad("unscaled twice", "w_unscaled_twice", _)


def _(m, o, d=12):
    s = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=1, growth_factor=4.0)
    for i, (x, y) in enumerate(d):
        s.scale(F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 2:
            s.update(s.get_scale() * 2)
        if (i + 1) % N == 0:
            s.step(o)
            s.update()
            o.zero_grad()


bad("scale changed inside a window", "w_scale_changes_inside", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        nn.utils.clip_grad_norm_(m.parameters(), 0.02)
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("clip per micro-batch", "w_clip_every", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        (F.cross_entropy(m(x), y) / N).backward()
        nn.utils.clip_grad_value_(m.parameters(), 0.01)
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("clip value per micro-batch", "w_clip_value_every", _)


def _(m, o, d):
    for i, (x, y) in enumerate(d):
        if (i + 1) % N == 0:
            nn.utils.clip_grad_norm_(m.parameters(), 0.02)
        (F.cross_entropy(m(x), y) / N).backward()
        if (i + 1) % N == 0:
            o.step()
            o.zero_grad()


bad("clip before last backward", "w_clip_before_last", _)
