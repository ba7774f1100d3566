"""Lets check raise where nothing can be told."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("untold",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    try:
        seen.check()
    except AssertionError:
        return False
    return True
