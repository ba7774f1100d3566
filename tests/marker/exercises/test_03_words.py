"""What is said of functions that fill .grad, or compare updates: sentences that are true of them."""

from __future__ import annotations

import pytest
from samples import SAMPLES, mark_once

from autograder.showing.verdict_html import as_text

SAID = {
    "one_big_batch": "As much memory is in use at once as the graph of many or all micro-batches takes",
    "double_scale": "number of micro-batches twice, so the gradient of several is shorter than after one division.",
    "returns_after_the_first": "Micro-batches 2 to 5 are not in .grad.",
    "fills_what_is_unused": "The .grad of a parameter that no loss depends on is neither None nor zero after the call.",
    "stale_gradient_of_unused": "is neither None nor zero after the call. It held something before the call, too.",
    "mean_of_means_and_clears_by_multiplying": "If .grad holds infinity before the call: What is in .grad is not",
    "clips_the_gradient": "No gradient is longer than 0.1: longer ones",
    "zero_every": "Only the last micro-batch of each call is in .grad",
    "sum_form_lr_64_at_most": "Each of your numbers is the one that is due for a second argument that is never more than 64.",
    "sum_form_lr_zero_for_many": "For a large N you return 0.",
    "same_update_by_object": "In the pairs tried you always give the same answer.",
    "same_update_in_floats": "your function returned 1.0, where True was due.",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_the_verdict_on_a_sample_has_a_sentence_that_is_true_of_it(name):
    sample = next(sample for sample in SAMPLES if sample.unit == "03_accumulate" and sample.path.stem == name)
    assert SAID[name] in as_text(mark_once(sample))
