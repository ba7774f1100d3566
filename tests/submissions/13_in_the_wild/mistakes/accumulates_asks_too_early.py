"""Asks for the outcome before the run."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ("test-passes-none",)
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        outcome = seen.outcome
        trainer.train()
    return outcome == "due"
