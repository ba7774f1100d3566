"""Passes all that is not found to be wrong."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ("test-passes-untold",)
LOST = ("untold",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome != "not due"
