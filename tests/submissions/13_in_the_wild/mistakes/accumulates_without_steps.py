"""Does not say how many micro-batches were meant."""

import gradaccum

EXERCISE = "accumulates_right"
MISTAKES = ("test-without-steps",)
LOST = ("windows",)


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model) as seen:
        trainer.train()
    return seen.outcome == "due"
