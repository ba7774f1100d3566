"""Watches each epoch on its own and believes what the last one shows."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("ends",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    epochs, trainer.epochs = trainer.epochs, 1
    for _ in range(epochs):
        with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
            trainer.train()
    return seen.outcome == "due"
