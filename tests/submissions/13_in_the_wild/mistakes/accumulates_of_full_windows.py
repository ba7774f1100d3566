"""Trains only on the full windows."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ("test-without-leftover",)
LOST = ("ends",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    n = trainer.accumulation_steps
    trainer.data = trainer.data[: len(trainer.data) // n * n]
    with gradaccum.watch(trainer.model, accumulation_steps=n) as seen:
        trainer.train()
    return seen.outcome == "due"
