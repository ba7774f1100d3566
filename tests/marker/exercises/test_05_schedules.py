"""Verdicts on samples for ``train_with_schedule`` say what is special about their rates, beside any names of gradients."""

from __future__ import annotations

import pytest
from samples import SAMPLES, mark_once

from autograder.showing.verdict_html import as_text

SAID = {
    "mean_of_means_and_schedule_one_ahead": "Update 4 uses the rate that is due for update 5.",
    "schedule_empty_update": "All gradients that are due are there, but your loop makes 3 more updates, whose gradients are "
    "zero or None. Unlike None, zeros let momentum move the parameters. "
    "Of the updates that have a gradient, number 4 uses the rate that is due for update 5.",
    "no_scale_and_rates_rounded": "The numbers returned are not the rates that were due. Each of your rates is the one that is "
    "due, rounded to",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_the_verdict_on_a_sample_says_what_is_special_about_its_rates(name):
    sample = next(sample for sample in SAMPLES if sample.unit[:2] == "05" and sample.path.stem == name)
    assert SAID[name] in as_text(mark_once(sample))
