"""Watches a single epoch, after which a loop that never clears would go wrong."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("windows", "ends")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    trainer.epochs = 1
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome == "due"
