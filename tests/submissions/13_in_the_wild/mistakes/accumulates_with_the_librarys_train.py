"""Calls the train() of the library's class, not that of the trainer it is given."""

import gradaccum
from gradaccum.trainer import Trainer

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        Trainer.train(trainer)
    return seen.outcome == "due"
