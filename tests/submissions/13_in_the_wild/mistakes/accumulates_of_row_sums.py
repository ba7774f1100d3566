"""Looks only at what rows add up to."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("weights", "windows", "ends")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    rows = seen.fingerprint
    return rows is not None and bool(((rows.coefficients.sum(1) - 1).abs() < 1e-3).all())
