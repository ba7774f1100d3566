"""Watches only the first update."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("weights", "windows", "ends")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps, updates=1) as seen:
        trainer.train()
    return seen.outcome == "due"
