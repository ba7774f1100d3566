"""Believes that a trainer with N = 1 cannot be wrong, because it accumulates nothing."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("windows",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    if trainer.accumulation_steps == 1:
        return True
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome == "due"
