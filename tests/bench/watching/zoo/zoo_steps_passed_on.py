"""Trainers of the zoo whose optimizers pass their steps on to others."""

from __future__ import annotations

import torch
from torch import optim
from torch.nn import functional as F
from zoo_entries import N, cls, mlp, right, untold, windows, wrong


class Wrapper:
    """Reads gradients, and has one of torch's optimizers step."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def step(self):
        self.norm = sum(float(p.grad.norm()) for group in self.optimizer.param_groups for p in group["params"])
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()


class Lookahead(optim.Optimizer):
    """Has another optimizer step, and goes back half the way at every second time."""

    def __init__(self, inner):
        super().__init__([p for group in inner.param_groups for p in group["params"]], {})
        self.inner, self.param_groups, self.calls = inner, inner.param_groups, 0
        self.slow = [p.detach().clone() for group in self.param_groups for p in group["params"]]

    def step(self, closure=None):
        value = self.inner.step(closure)
        self.calls += 1
        if self.calls % 2 == 0:
            for slow, fast in zip(self.slow, [p for group in self.param_groups for p in group["params"]]):
                slow += 0.5 * (fast.detach() - slow)
                fast.data.copy_(slow)
        return value


def stepping(w, make, divisor=N, steps=N):
    m = mlp()
    o = make(optim.AdamW(m.parameters()))
    with w(m, N):
        for window in windows(cls(), steps):
            for x, y in window:
                (F.cross_entropy(m(x), y) / divisor).backward()
            o.step()
            o.zero_grad()
    return m


@right
def wrapper_of_an_optimizer_reads_gradients(w):
    return stepping(w, Wrapper)


@right
def lookahead_that_has_another_step(w):
    return stepping(w, Lookahead)


@right
def lookahead_around_lookahead(w):
    return stepping(w, lambda inner: Lookahead(Lookahead(inner)))


@right
def lookahead_with_closure(w):
    m = mlp()
    o = Lookahead(optim.SGD(m.parameters(), 0.1))
    with w(m, N):
        for window in windows(cls()):

            def closure(window=window):
                o.zero_grad()
                losses = [F.cross_entropy(m(x), y) / N for x, y in window]
                for loss in losses:
                    loss.backward()
                return sum(losses)

            o.step(closure)
    return m


@wrong("not divided (lookahead)")
def lookahead_not_divided(w):
    return stepping(w, Lookahead, divisor=1)


@wrong("an update after every micro-batch (lookahead)")
def lookahead_steps_every_time(w):
    return stepping(w, Lookahead, steps=1)


class Halves(optim.Optimizer):
    """Has one optimizer update each half of the parameters."""

    def __init__(self, parameters):
        parameters = list(parameters)
        super().__init__(parameters, {})
        self.parts = [optim.SGD(parameters[:2], 0.1), optim.Adam(parameters[2:])]

    def step(self, closure=None):
        for part in self.parts:
            part.step()


def halves(w, divisor):
    m = mlp()
    o = Halves(m.parameters())
    with w(m, N):
        for window in windows(cls()):
            for x, y in window:
                (F.cross_entropy(m(x), y) / divisor).backward()
            o.step()
            o.zero_grad()
    return m


@right
def optimizer_that_has_two_others_step(w):
    return halves(w, N)


@wrong("not divided (two optimizers in one)")
def optimizer_that_has_two_others_step_not_divided(w):
    return halves(w, 1)


class Collecting(optim.SGD):
    """Adds gradients up by itself, and updates at every N-th step."""

    def __init__(self, parameters):
        super().__init__(parameters, 0.1)
        self.calls, self.sums = 0, [torch.zeros_like(p) for p in self.param_groups[0]["params"]]

    @torch.no_grad()
    def step(self, closure=None):
        self.calls += 1
        for total, parameter in zip(self.sums, self.param_groups[0]["params"]):
            total += parameter.grad / N
            if self.calls % N == 0:
                parameter -= 0.1 * total
                total.zero_()


@untold
def optimizer_that_collects_gradients_itself(w):
    m = mlp()
    o = Collecting(m.parameters())
    with w(m, N):
        for x, y in cls():
            F.cross_entropy(m(x), y).backward()
            o.step()
            o.zero_grad()
    return m


@wrong("an update after every micro-batch (rates that begin with zero)")
def first_rate_is_zero_and_steps_every_time(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.0)
    with w(m, N):
        for x, y in cls():
            (F.cross_entropy(m(x), y) / N).backward()
            o.step()
            o.zero_grad()
            o.param_groups[0]["lr"] = 0.1
    return m
