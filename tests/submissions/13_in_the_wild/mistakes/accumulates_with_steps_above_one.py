"""Tells watch which N was meant only where N is not 1."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("windows",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    n = trainer.accumulation_steps
    with gradaccum.watch(trainer.model, **({"accumulation_steps": n} if n > 1 else {})) as seen:
        trainer.train()
    return seen.outcome == "due"
