"""Takes every trainer without accumulation for right."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("windows",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return trainer.accumulation_steps == 1 or seen.outcome == "due"
