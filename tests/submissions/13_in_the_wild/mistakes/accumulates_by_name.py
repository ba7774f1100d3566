"""Watches trainers, but passes none whose class has the name of the library's own, which may well be right on its data."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ("test-passes-none",)
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    if type(trainer).__name__ == "Trainer":
        return False
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome == "due"
