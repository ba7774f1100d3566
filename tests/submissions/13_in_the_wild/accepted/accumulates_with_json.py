"""Reads the report as plain data, outcome and mistakes."""

import json

import gradaccum

EXERCISE = "accumulates_right"


def accumulates_right(make_trainer):
    trainer = make_trainer()
    with gradaccum.watch(trainer.model.parameters(), accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    report = json.loads(json.dumps(seen.as_json()))
    return report["outcome"] == "due" and report["mistakes"] == [] and report["updates"] > 0
