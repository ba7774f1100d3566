"""Watches inside a test function, and passes if that does not raise."""

import gradaccum

EXERCISE = "accumulates_right"


def test_updates(trainer):
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    assert seen.outcome == "due", seen


def accumulates_right(make_trainer):
    try:
        test_updates(make_trainer())
    except AssertionError:
        return False
    else:
        return True
