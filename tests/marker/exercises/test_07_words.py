"""What is said of functions of unit 07: sentences that are true of them."""

from __future__ import annotations

import pytest
from samples import SAMPLES, mark_once

from autograder.showing.verdict_html import as_text

SAID = {
    "breaks_equivalence_names_run_out": "Called a second time: Your code raised StopIteration",
    "replace_batchnorm_channels_of_the_first": "A GroupNorm does not have the number of channels (num_channels) of",
    "replace_batchnorm_leaves_what_has_no_weights": "There is still a BatchNorm1d at '3'",
    "replace_batchnorm_nothing_without_weights": "A BatchNorm became something other than an nn.GroupNorm.",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_the_verdict_on_a_sample_has_a_sentence_that_is_true_of_it(name):
    sample = next(sample for sample in SAMPLES if sample.unit == "07_when_equivalence_breaks" and sample.path.stem == name)
    assert SAID[name] in as_text(mark_once(sample))
