"""What the trainers of the zoo are made of, and how they are entered.

A trainer is a function of ``watch``: it builds a model, trains it inside ``with watch(model, N):`` and returns it. A right one
is entered with ``@right``, one with a planted mistake with ``@wrong(kind)``, and one that cannot be judged with ``@untold``. A
mistake that cannot be seen is entered with words: the outcome is "due", and a note with these words says what was not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn, optim
from torch.nn import functional as F

DUE, NOT_DUE, UNTOLD = "due", "not due", "cannot tell"
N = 4
VOCABULARY = 11


@dataclass(frozen=True)
class Entry:
    """A trainer, the outcome that is due, the kind of its mistake if it has one, and words that a note has to say."""

    name: str
    run: Callable
    want: str
    kind: str = ""
    words: str = ""


ZOO: dict[str, Entry] = {}


def _enter(run, want, kind="", words=""):
    assert run.__name__ not in ZOO, run.__name__
    ZOO[run.__name__] = Entry(run.__name__, run, want, kind, words)
    return run


def right(run):
    return _enter(run, DUE)


def untold(run):
    return _enter(run, UNTOLD)


def wrong(kind):
    return lambda run: _enter(run, NOT_DUE, kind)


def add(name, loss_of, data, model, opt=None, n=N, want=DUE):
    """A right loop with this loss, data, model and optimizer."""

    def run(watch):
        m, batches = model(), data()
        o = (opt or (lambda p: optim.SGD(p, 0.1)))(m.parameters())
        with watch(m, n):
            for i, batch in enumerate(batches):
                (loss_of(m, *batch) / n).backward()
                if (i + 1) % n == 0:
                    o.step()
                    o.zero_grad()
        return m

    run.__name__ = name
    _enter(run, want)


def at_update(name, act, want=DUE):
    """A right loop that does something to the gradients of each update."""

    def run(watch):
        m = mlp()
        o = optim.SGD(m.parameters(), 0.1)
        with watch(m, N):
            for i, (x, y) in enumerate(cls()):
                (F.cross_entropy(m(x), y) / N).backward()
                if (i + 1) % N == 0:
                    act(m)
                    o.step()
                    o.zero_grad()
        return m

    run.__name__ = name
    _enter(run, want)


def bad(kind, name, loop, want=NOT_DUE, words=""):
    """A loop over a model, an optimizer and data: as many micro-batches as its default for them says, or 8."""

    def run(watch):
        m = mlp()
        o = optim.SGD(m.parameters(), 0.1)
        d = cls(loop.__defaults__[0] if loop.__defaults__ else 8)
        with watch(m, N):
            loop(m, o, d)
        return m

    run.__name__ = name
    _enter(run, want, kind, words)


def mlp(o=3, i=6, h=8):
    return nn.Sequential(nn.Linear(i, h), nn.Tanh(), nn.Linear(h, o))


def cls(k=8, b=4):
    """Micro-batches of a classification."""
    return [(torch.randn(b, 6), torch.randint(0, 3, (b,))) for _ in range(k)]


def reg(k=8, b=4, o=3):
    """Micro-batches of a regression."""
    return [(torch.randn(b, 6), torch.randn(b, o)) for _ in range(k)]


class LM(nn.Module):
    """A language model."""

    def __init__(self, tied=False):
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, 8)
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.out = nn.Linear(8, VOCABULARY)
        if tied:
            self.out.weight = self.emb.weight

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def toks(k=8, b=3, t=6, pad=-100):
    """Micro-batches of sequences of different lengths."""
    out = []
    for i in range(k):
        x, y = torch.randint(0, VOCABULARY, (b, t)), torch.randint(0, VOCABULARY, (b, t))
        for r in range(b):
            y[r, 1 + (i * 7 + r * 3) % t :] = pad
        out.append((x, y))
    return out


def windows(data, n=N):
    return [data[i : i + n] for i in range(0, len(data), n)]
