"""Trainers of the zoo whose optimizers are not torch's, or pass their steps on."""

from __future__ import annotations

import torch
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import N, cls, mlp, right, untold, windows, wrong


class Adam:
    """An optimizer that has nothing of torch's."""

    def __init__(self, parameters, l2=0.0):
        self.parameters, self.l2, self.times = list(parameters), l2, 0
        self.means = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        self.times += 1
        for parameter, (first, second) in zip(self.parameters, self.means):
            if parameter.grad is None:
                continue
            if self.l2:
                parameter.grad.add_(parameter, alpha=self.l2)
            first.mul_(0.9).add_(parameter.grad, alpha=0.1)
            second.mul_(0.99).addcmul_(parameter.grad, parameter.grad, value=0.01)
            scaled = (second / (1 - 0.99**self.times)).sqrt() + 1e-8
            parameter.addcdiv_(first / (1 - 0.9**self.times), scaled, value=-0.01)

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None


def unequal():
    return [(torch.randn(b, 6), torch.randint(0, 3, (b,))) for b in (2, 5, 1, 3, 4, 2, 3, 6)]


def own(w, divisor=N, data=cls, clears=True, act=lambda m: None, l2=0.0, m=None):
    m = m or mlp()
    o = Adam(m.parameters(), l2)
    with w(m, N):
        for window in windows(data()):
            for x, y in window:
                (F.cross_entropy(m(x), y) / divisor).backward()
            act(m)
            o.step()
            if clears:
                o.zero_grad()
    return m


@right
def optimizer_of_its_own_class(w):
    return own(w)


@right
def optimizer_of_its_own_class_after_gradients_are_divided(w):
    def divide(m):
        for p in m.parameters():
            p.grad /= N

    return own(w, divisor=1, act=divide)


@right
def optimizer_of_its_own_class_after_clipping(w):
    return own(w, act=lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.1))


@right
def optimizer_of_its_own_class_adds_a_multiple_of_the_parameters(w):
    return own(w, l2=0.1)


@right
def optimizer_of_its_own_class_gets_a_parameter_without_gradient(w):
    m = mlp()
    m[0].bias.requires_grad_(False)
    return own(w, m=m)


@wrong("not divided (optimizer of its own class)")
def optimizer_of_its_own_class_not_divided(w):
    return own(w, divisor=1)


@wrong("mean of means (optimizer of its own class)")
def optimizer_of_its_own_class_mean_of_means(w):
    return own(w, data=unequal)


@wrong("never cleared (optimizer of its own class)")
def optimizer_of_its_own_class_never_clears(w):
    return own(w, clears=False)


@wrong("an update after every micro-batch (optimizer of its own class)")
def optimizer_of_its_own_class_steps_every_time(w):
    m = mlp()
    o = Adam(m.parameters())
    with w(m, N):
        for x, y in cls():
            (F.cross_entropy(m(x), y) / N).backward()
            o.step()
            o.zero_grad()
    return m


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.maker, self.critic = nn.Linear(3, 6), nn.Linear(6, 1)


def adversaries(w, divisor):
    m, loss = Two(), F.binary_cross_entropy_with_logits
    of_maker, of_critic = Adam(m.maker.parameters()), Adam(m.critic.parameters())
    with w(m, N):
        for window in windows(cls()):
            of_critic.zero_grad()
            for x, _ in window:
                made = m.maker(x[:, :3]).detach()
                (loss(m.critic(torch.cat([x, made])), torch.tensor([[1.0]] * 4 + [[0.0]] * 4)) / N).backward()
            of_critic.step()
            of_maker.zero_grad()
            for x, _ in window:
                (loss(m.critic(m.maker(x[:, :3])), torch.ones(4, 1)) / divisor).backward()
            of_maker.step()
    return m


@right
def two_optimizers_of_their_own_class(w):
    return adversaries(w, N)


@wrong("not divided for one of two optimizers of their own class")
def one_of_two_optimizers_of_their_own_class_not_divided(w):
    return adversaries(w, 1)


class Collecting(Adam):
    """Adds gradients up by itself, and updates at every N-th call."""

    def __init__(self, parameters):
        super().__init__(parameters)
        self.sums = [torch.zeros_like(p) for p in self.parameters]
        self.calls = 0

    def step(self):
        self.calls += 1
        for total, parameter in zip(self.sums, self.parameters):
            total += parameter.grad / N
        if self.calls % N == 0:
            for total, parameter in zip(self.sums, self.parameters):
                parameter.grad = total.clone()
                total.zero_()
            super().step()


@untold
def optimizer_of_its_own_class_that_collects_gradients(w):
    m = mlp()
    o = Collecting(m.parameters())
    with w(m, N):
        for x, y in cls():
            F.cross_entropy(m(x), y).backward()
            o.step()
            o.zero_grad()
    return m


class Engine:
    """Steps a micro-batch at a time; an object with ``step`` and ``zero_grad`` that is no optimizer."""

    def __init__(self, m, optimizer, divisor):
        self.m, self.optimizer, self.divisor, self.calls = m, optimizer, divisor, 0

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self, x, y):
        (F.cross_entropy(self.m(x), y) / self.divisor).backward()
        self.calls += 1
        norm = sum(float(p.grad.norm()) for p in self.m.parameters())
        if self.calls % N == 0 and norm < 1e6:
            self.optimizer.step()
            self.zero_grad()


def engine(w, make, divisor=N):
    m = mlp()
    one = Engine(m, make(m.parameters()), divisor)
    with w(m, N):
        for x, y in cls():
            one.step(x, y)
    return m


@right
def engine_with_step_and_zero_grad(w):
    return engine(w, optim.Adam)


@right
def engine_with_an_optimizer_of_its_own_class(w):
    return engine(w, Adam)


@wrong("not divided (engine with an optimizer of its own class)")
def engine_with_an_optimizer_of_its_own_class_not_divided(w):
    return engine(w, Adam, divisor=1)
