"""Running a student's trainer, and giving trainers that nobody has seen to a student's regression test.

A :class:`Build` says how such a trainer is built and on which data. It does not say whether the trainer accumulates right:
nearly every build does so on some data and not on others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from autograder.contract.observation import Observation
from autograder.observing.calls import CallTrial, observe_call
from autograder.observing.loops import observe_loop
from autograder.observing.token_loops import TokenLoopTrial
from gradaccum.problems.tokens import IGNORE_INDEX, TokenProblem, counted
from gradaccum.trainer import Trainer

METHODS = ("train", "on_epoch_begin", "compute_loss", "backward", "should_step", "on_window_end", "zero_grad")
"""What a trainer may override."""


@dataclass(frozen=True)
class RepairTrial(TokenLoopTrial):
    """How a trainer is watched, and whether another one of its class trains an epoch in the middle of its first window."""

    beside: bool = False


class _Interrupted(list):
    """Micro-batches, after the first of which something else happens, once."""

    def __init__(self, micro_batches: Sequence, happens: Callable[[], None]):
        super().__init__(micro_batches)
        self._happens = [happens]

    def __iter__(self) -> Iterator[Any]:
        for k, micro_batch in enumerate(super().__iter__()):
            if k == 1 and self._happens:
                self._happens.pop()()
            yield micro_batch


def observe_repaired(make: Callable[..., Any], trial: RepairTrial) -> Observation:
    """Make a student's trainer, give it one epoch after the other, and record what the library's own ``train`` does with it."""
    made: list[Any] = []
    replaced: list[str] = []

    def train_another() -> None:
        problem = trial.problem
        model = problem.build_model()
        another = make(model, problem.build_optimizer(model), problem.batches()[::-1], problem.accumulation_steps)
        with torch.enable_grad():
            Trainer.train(another)

    def loop(model: Any, loss_fn: Any, optimizer: Any, micro_batches: Sequence, accumulation_steps: int) -> None:
        if first := not made:
            made.append(make(model, optimizer, micro_batches, accumulation_steps))
            if not isinstance(made[0], Trainer):
                raise TypeError(f"{type(made[0]).__name__} is not a subclass of Trainer")
        given = made[0].data = _Interrupted(micro_batches, train_another) if trial.beside and first else micro_batches
        before = [*micro_batches]
        Trainer.train(made[0])
        if made[0].data is not given:
            replaced[:] = ["data"]
        elif len(given) != len(before) or not all(map(operator.is_, given[:], before)):
            replaced[:] = ["list"]

    seen = observe_loop(loop, trial)
    own = [name for name in METHODS if made and getattr(type(made[0]), name) is not getattr(Trainer, name)] + replaced
    return replace(seen, facts=seen.facts | {"own": own})


@dataclass(frozen=True)
class Build:
    """A trainer, and the data it trains on.

    Attributes:
        seed: of its model and data.
        steps: N.
        lengths: for each micro-batch of an epoch the number of tokens of each of its sequences.
        epochs: how often it goes through them.
        weigh: what it divides the loss of a micro-batch by, see :attr:`weights`.
        written: how: as a ``"sum"`` over tokens, as a ``"mean"`` times a weight, ``"by hand"``, or in the ``"gradients"``
            before the update, where all tokens of a window weigh alike.
        ends: windows end after ``"N"`` micro-batches and with the epoch, or with the whole ``"run"``, or only where they are
            ``"full"``; the first of them may come ``"early"``, after one micro-batch; or there is an update after ``"every"``
            micro-batch, or after ``"two"``.
        clear: gradients are cleared for each ``"window"``, before ``"every"`` backward, or ``"never"``.
        accented: the targets of a sequence weigh more and more.
        adam: whether its optimizer is AdamW, and not SGD.
        evaluating: whether its model learns in evaluation mode, of which watching makes a note.
    """

    seed: int
    steps: int
    lengths: tuple[tuple[int, ...], ...]
    epochs: int = 1
    weigh: str = "share"
    written: str = "sum"
    ends: str = "N"
    clear: str = "window"
    accented: bool = False
    adam: bool = False
    evaluating: bool = False

    @property
    def problem(self) -> TokenProblem:
        return TokenProblem(seed=self.seed, accumulation_steps=self.steps, width=8, lengths=(self.lengths,))

    def counts(self, what: str = "tokens") -> list[int]:
        """How many tokens, positions or sequences each micro-batch has."""
        return [counted(sequences, what) for sequences in self.lengths]

    @property
    def updates(self) -> list[int]:
        """The micro-batches of the last epoch after which there is an update."""
        last = len(self.lengths) - 1
        ends = {
            "N": lambda k: (k + 1) % self.steps == 0 or k == last,
            "run": lambda k: (k + 1) % self.steps == 0 or k == last,
            "full": lambda k: (k + 1) % self.steps == 0,
            "early": lambda k: k % self.steps == 0 or k == last,
            "every": lambda k: True,
            "two": lambda k: k % 2 == 1 or k == last,
        }[self.ends]
        return [k for k in range(last + 1) if ends(k)]

    def updates_of(self, last: bool) -> list[int]:
        """The micro-batches of an epoch after which there is an update, by whether it is the last one."""
        return self.updates if last or self.ends != "run" else replace(self, ends="full").updates

    @property
    def weights(self) -> list[float]:
        """How much of the mean loss of each micro-batch goes backward.

        Its ``"share"`` of the tokens of its window; of all ``"positions"``, padding too; of tokens and one more for each
        sequence (``"shifted"``); one over the micro-batches in the window (``"mean"``) or over ``"N"``; or ``"one"``.
        """
        tokens, found, start = self.counts(), [], 0
        totals = {
            "share": tokens,
            "positions": self.counts("positions"),
            "shifted": [a + b for a, b in zip(tokens, self.counts("sequences"), strict=True)],
        }
        for end in [*(k + 1 for k in self.updates), len(tokens)]:
            window = slice(start, end)
            same = {"mean": 1 / max(1, end - start), "N": 1 / self.steps, "one": 1.0}
            total = sum(totals.get(self.weigh, tokens)[window])
            found += [same.get(self.weigh, count / total) for count in tokens[window]]
            start = end
        return found


class Built(Trainer):
    """The trainer of a build, ready to train. It adds itself to those that were made."""

    def __init__(self, build: Build, made: list[Built] | None = None):
        problem = build.problem
        model = problem.build_model()
        rule = torch.optim.AdamW if build.adam else torch.optim.SGD
        super().__init__(model, rule(model.parameters(), lr=0.01), problem.batches(), build.steps, build.epochs)
        self._build, self._index, self._epochs_begun, self._asked = build, -1, 0, False
        self._given = {name: vars(self)[name] for name in ("data", "accumulation_steps", "epochs")}
        if made is not None:
            made.append(self)

    @property
    def changed(self) -> list[str]:
        """The names of the attributes that have been replaced since it was made."""
        now = {name: vars(self).get(name) for name in self._given}
        return [name for name, value in self._given.items() if now[name] is not value and not _same_list(now[name], value)]

    @property
    def began(self) -> bool:
        """Whether its own train() has been called, which need not be that of its class's parents."""
        return self._asked

    @property
    def again(self) -> bool:
        """Whether it has trained more than once."""
        return self._epochs_begun > self._given["epochs"]

    def train(self) -> None:
        self._asked = True
        super().train()

    def on_epoch_begin(self) -> None:
        self._index = -1
        self._epochs_begun += 1
        if self._build.evaluating:
            self.model.eval()
        if self._build.clear != "never":
            self.optimizer.zero_grad()

    def compute_loss(self, x: Tensor, targets: Tensor) -> Tensor:
        self._index += 1
        logits, flat = self.model(x).flatten(0, 1), targets.flatten()
        factor = self._factor
        if self._build.accented:
            accents = torch.ones(targets.shape).cumsum(1).flatten()
            return (cross_entropy(logits, flat, reduction="none") * accents.to(logits)).sum() * factor
        if self._build.written == "mean":
            return cross_entropy(logits, flat) * self._build.weights[self._index]
        if self._build.written == "by hand":
            counts = flat != IGNORE_INDEX
            picked = logits.log_softmax(-1).gather(-1, flat.where(counts, 0)[:, None])[:, 0]
            return -(picked * counts).sum() * factor
        total = cross_entropy(logits, flat, reduction="sum")
        return total if self._build.written == "gradients" else total * factor

    def backward(self, loss: Tensor) -> None:
        if self._build.clear == "every":
            self.optimizer.zero_grad()
        loss.backward()

    def should_step(self, index: int) -> bool:
        if not self._asked:  # trained by another class's train(), which does not know what this one needs
            return True
        return index in self._build.updates_of(last=self._epochs_begun % self.epochs == 0)

    def on_window_end(self) -> None:
        if self._build.written == "gradients":
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(self._factor)

    def zero_grad(self) -> None:
        if self._build.clear != "never":
            super().zero_grad()

    @property
    def _factor(self) -> float:
        """What each target of this micro-batch is multiplied by."""
        return self._build.weights[self._index] / self._build.counts()[self._index]


def _same_list(one: Any, other: Any) -> bool:
    """Whether two lists hold the same things in the same order."""
    return isinstance(one, list) and isinstance(other, list) and len(one) == len(other) and all(map(operator.is_, one, other))


Built.__name__ = Trainer.__name__  # a test that goes by it learns nothing; inspect finds the source by __qualname__

DEEDS = {
    "trains none": "Your test calls the train() of none of the trainers that make_trainer makes.",
    "leaves one out": "Your test makes several trainers of a kind, and calls the train() of some only.",
    "data": "Your test changes the data of a trainer.",
    "accumulation_steps": "Your test changes the accumulation_steps of a trainer.",
    "epochs": "Your test changes the epochs of a trainer.",
    "again": "Your test trains one and the same trainer more than once.",
}
"""What a regression test may wrongly do with trainers, in words."""


@dataclass(frozen=True)
class UnseenTrial:
    """Trainers that a regression test is given, one after the other. Neither names nor places say which are right."""

    builds: tuple[Build, ...]


def observe_test(function: Callable[..., Any], trial: UnseenTrial) -> Observation:
    """What a student's regression test says of each trainer, and what it ``did`` with them, as keys of :data:`DEEDS`.

    It may make a trainer as often as it likes.
    """
    made: list[list[Built]] = [[] for _ in trial.builds]

    def ask() -> list[Any]:
        return [function(partial(Built, build, trainers)) for build, trainers in zip(trial.builds, made, strict=True)]

    seen = observe_call(ask, CallTrial())
    trained = [[trainer for trainer in trainers if trainer.began] for trainers in made]
    did = {name for trainers in trained for trainer in trainers for name in trainer.changed}
    if any(trainer.again for trainers in trained for trainer in trainers):
        did.add("again")
    if not any(trained):
        did.add("trains none")
    elif any(0 < len(some) < len(trainers) for some, trainers in zip(trained, made, strict=True)):
        did.add("leaves one out")
    return replace(seen, facts=seen.facts | {"did": sorted(did)})
