"""The small trainer with hooks has the two mistakes that unit 13 repairs, and calls its hooks."""

from __future__ import annotations

import torch

import gradaccum
from gradaccum.problems.tokens import TokenProblem
from gradaccum.trainer import Trainer

UNEVEN = TokenProblem(seed=1, accumulation_steps=3, width=8, lengths=(((2,), (5,), (3,), (4,), (1, 6)),))
EVEN = TokenProblem(seed=1, accumulation_steps=3, width=8, lengths=(((4,),) * 6,))


def watched(problem: TokenProblem, kind: type[Trainer] = Trainer, **options):
    model = problem.build_model()
    trainer = kind(model, torch.optim.SGD(model.parameters(), 0.1), problem.batches(), problem.accumulation_steps, **options)
    with gradaccum.watch(model, accumulation_steps=problem.accumulation_steps) as seen:
        trainer.train()
    return seen


def test_on_unequal_tokens_and_a_leftover_it_makes_two_mistakes():
    assert {mistake.slug for mistake in watched(UNEVEN).mistakes} == {"token-mean-of-means", "tail-scale"}


def test_on_even_micro_batches_without_a_leftover_it_looks_right():
    assert watched(EVEN, epochs=2).outcome == "due"


def test_hooks_are_called_in_order():
    called = []

    class Noting(Trainer):
        def on_epoch_begin(self):
            called.append("epoch")

        def on_window_end(self):
            called.append("window")

        def zero_grad(self):
            called.append("zero")
            super().zero_grad()

    watched(UNEVEN, Noting, epochs=2)
    assert called == ["epoch", "window", "zero", "window", "zero"] * 2
