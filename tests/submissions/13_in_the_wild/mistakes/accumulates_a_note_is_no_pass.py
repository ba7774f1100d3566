"""Fails a trainer about which watching makes a note, whatever the note says."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("untold",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return not seen.mistakes and not seen.notes
