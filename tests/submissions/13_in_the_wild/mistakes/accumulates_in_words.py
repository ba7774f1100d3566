"""Returns the outcome, not a truth value."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome
