"""Passes trainers that are not the library's own."""

from gradaccum.trainer import Trainer

EXERCISE = "accumulates_right"
MISTAKES = ("test-passes-all",)
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    return type(trainer) is not Trainer and isinstance(trainer, Trainer)
