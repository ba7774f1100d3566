"""Every sample submission gets the verdict that its file asks for.

The samples are in ``tests/submissions``; its README says what they declare. Parameters begin with the unit, so that all tests
of a unit can run in one process, which keeps the verdicts and what they are compared with.
"""

from __future__ import annotations

import pytest
import torch
from samples import (
    ACCEPTED,
    SAMPLES,
    SOME,
    WRONG,
    Sample,
    mark,
    mark_once,
    slugs,
    verdicts_differ,
)

from autograder.contract.units import UNITS
from autograder.isolation.huge_pages import use_huge_pages
from autograder.marking.marker import mark_file
from gradaccum.loops import GALLERY


@pytest.fixture(autouse=True, scope="module")
def one_thread_in_huge_pages():
    """As in marking: small problems gain nothing from more threads, and those of unit 10 fork this process eight times."""
    import torch._dynamo  # optimizers do, and a fork would do it again

    use_huge_pages()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def fast_or_slow(sample: Sample):
    """Only one sample of each sort is marked in every run; all take minutes."""
    return pytest.param(sample, id=str(sample), marks=[] if sample in SOME else [pytest.mark.slow])


@pytest.mark.parametrize("sample", [fast_or_slow(sample) for sample in SAMPLES])
def test_sample_gets_its_verdict(sample):
    assert not verdicts_differ(sample, mark_once(sample))


KINDS_OF_ERROR = {
    "false accepts": lambda sample, verdict: verdict.passed and sample.kind in WRONG,
    "false rejects": lambda sample, verdict: not verdict.passed and sample.kind == ACCEPTED,
    "wrong names": lambda sample, verdict: sorted(slugs(verdict)) != sorted(sample.mistakes),
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_unit_has_no_false_accepts_no_false_rejects_and_no_wrong_names(unit, record_property):
    samples = [sample for sample in SAMPLES if sample.unit == unit]
    errors = {
        kind: [sample for sample in samples if is_wrong(sample, mark_once(sample))] for kind, is_wrong in KINDS_OF_ERROR.items()
    }
    head = f"{'sample submissions':<36}{'files':>7}" + "".join(f"{kind:>15}" for kind in errors)
    counts = f"{unit:<36}{len(samples):>7}" + "".join(f"{len(found):>15}" for found in errors.values())
    record_property("table", f"{head}\n{counts}")
    assert errors == {"false accepts": [], "false rejects": [], "wrong names": []}


OTHER_SEED = 12345


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES[9::12], ids=str)  # all of them would take minutes
def test_sample_gets_its_verdict_on_other_problems(sample):
    assert not verdicts_differ(sample, mark(sample, OTHER_SEED))


@pytest.mark.slow
@pytest.mark.parametrize("sample", SOME, ids=str)
def test_marking_again_gives_the_same_verdict_with_one_two_and_four_threads(sample):
    first = mark_once(sample)
    for threads in (1, 2, 4):  # benchmarks/repeatability.py marks a thousand times
        torch.set_num_threads(threads)
        again = mark(sample, 0)
        assert (again.results, again.mistakes, str(again)) == (first.results, first.mistakes, str(first))
    torch.set_num_threads(1)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SOME, ids=str)
def test_file_marked_in_a_process_of_its_own_gets_the_verdict_it_gets_in_this_one(sample, tmp_path):
    path = tmp_path / f"{sample.unit}.py"
    path.write_text(sample.path.read_text())
    marked = {verdict.exercise: verdict for verdict in mark_file(path).verdicts}
    here = mark_once(sample)
    assert str(marked.pop(sample.exercise)) == str(here)
    assert all(verdict.score == 0 and verdict.failure.kind == "missing" for verdict in marked.values())


NOT_IN_THE_GALLERY = {
    *("one-big-batch", "grad-disabled", "detached", "epoch-prefetched"),
    *("loss-of-last", "loss-scaled-in-log", "loss-mean-of-means", "loss-summed"),
}
"""Mistakes of a training loop that no loop of the gallery makes."""


@pytest.mark.slow
@pytest.mark.parametrize("slug", sorted((GALLERY.keys() | NOT_IN_THE_GALLERY) - {"right"}))
def test_some_train_epoch_makes_this_mistake_and_no_other(slug):
    assert any(sample.exercise == "train_epoch" and sample.mistakes == (slug,) for sample in SAMPLES)


def test_samples_of_train_epoch_make_many_pairs_of_mistakes():
    pairs = {frozenset(s.mistakes) for s in SAMPLES if s.exercise == "train_epoch" and len(s.mistakes) == 2}
    assert len(pairs) >= 40


MUST_BE_ACCEPTED = {
    "autograd.grad into own buffers": "autograd_grad_own_buffers",
    "torch.func.grad and functional_call": "torch_func_grad",
    "scaling .grad before the step instead of the loss": ("gradient_scaled_before_step", "accumulate_gradient"),
    "sum reduction divided by the count": ("sum_over_count", "accumulate_gradient"),
    "weighting by b_k/B": "weighted_by_share",
    "islice windows": ("weighted_by_share", "islice_pairs"),
    "batched windows": "batched_helper",
    "nested loops": "nested_loops",
    "while and next": "while_next",
    "generators": ("generator_of_losses", "generator_of_weighted_losses"),
    "tensor hooks that scale": "tensor_hooks",
    "post-accumulate hooks into float32 buffers": "post_accumulate_hooks_float32",
    "p.grad = None": ("grad_set_to_none", "accumulate_gradient"),
    "zero_grad(set_to_none=False)": ("zero_grad_keeps_tensors", "weight_in_backward"),
    "model.zero_grad()": ("model_zero_grad", "weighted_by_share"),
    "clearing at window start": "clears_at_window_start",
    "clearing at window end": "clears_at_window_end",
    "_foreach_ operations": "foreach_operations",
    "prefetching a window": "prefetches_a_window",
    "closures": "step_with_closure",
    "enumerate(…, 1)": "train_epoch",
    "step at the top of the loop plus a final flush": "step_at_top_and_flush",
    "activation checkpointing": "checkpointing",
    "reentrant activation checkpointing": "checkpointing_reentrant",
    "recursion": "recursion",
    "a class with state behind the function": "class_with_state",
    "GradScaler with enabled=False": "grad_scaler_disabled",
    "summed gradients with lr/N": "summed_gradients_small_rate",
    "printing, logging, progress bars, timing, asserts": "noisy",
    "type hints, helpers, own imports": "typed_with_helpers",
}
"""Right, if unusual, ways to write a loop, and the samples that do: one name for both units, or one for 04 and one for 03."""

ONLY_IN_TRAINING = {
    *("batched windows", "clearing at window start", "clearing at window end", "prefetching a window", "closures"),
    *("enumerate(…, 1)", "step at the top of the loop plus a final flush", "summed gradients with lr/N"),
}
"""Ways that make sense only where there are several windows and updates."""


@pytest.mark.parametrize("idea", MUST_BE_ACCEPTED)
def test_unusual_right_way_has_an_accepted_sample(idea):
    names = MUST_BE_ACCEPTED[idea]
    in_training, in_accumulating = (names, names) if isinstance(names, str) else names
    accepted = {(sample.unit[:2], sample.path.stem) for sample in SAMPLES if sample.kind == ACCEPTED}
    assert ("04", in_training) in accepted
    assert idea in ONLY_IN_TRAINING or ("03", in_accumulating) in accepted
