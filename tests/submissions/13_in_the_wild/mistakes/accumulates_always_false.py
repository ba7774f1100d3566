"""Passes nothing: compares the outcome with a word that it never is."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ("test-passes-none",)
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome == "right"
