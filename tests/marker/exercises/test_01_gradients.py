"""The shares of samples in a gradient are found, and so is everything that a function changed."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exercises import all_exercises
from autograder.exercises.unit_01_batches_and_gradients import exercises
from autograder.exercises.unit_01_batches_and_gradients.judging.batches import changes
from autograder.exercises.unit_01_batches_and_gradients.judging.other_vectors import ROUND
from autograder.exercises.unit_01_batches_and_gradients.judging.sample_shares import name_shares, unmix, wrong_shares
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial, observe_gradients
from autograder.marking.in_process import mark_function
from gradaccum.fingerprint import batch_gradient
from gradaccum.problems import Problem, flat_gradient, flat_parameters

SHARES = st.lists(st.floats(-3, 3), min_size=4, max_size=4)


def trial(**options) -> BatchTrial:
    batch = {"training": options.pop("training", True), "summed": options.pop("summed", False)}
    return BatchTrial(Problem(seed=5, epochs=((1, 1, 1, 1),), width=8, **options), **batch)


def mixed(of: BatchTrial, shares) -> torch.Tensor:
    model = of.model()
    each = torch.stack([batch_gradient(model, of.loss_fn, sample) for sample in of.problem.batches()])
    return torch.tensor(shares, dtype=each.dtype) @ each


@given(SHARES, st.booleans(), st.booleans())
@settings(max_examples=30)
def test_shares_of_sample_gradients_in_any_mixture_are_found_exactly(shares, summed, training):
    of = trial(summed=summed, training=training, gated=True)
    found = unmix(of, mixed(of, shares))
    assert found.linear
    assert found.samples.tolist() == pytest.approx(shares, abs=1e-9)
    assert not found.has_stale


def test_share_of_what_grad_held_before_is_found_in_addition_to_the_samples():
    of = trial(stale=True)
    found = unmix(of, mixed(of, [0.25] * 4) + flat_gradient(of.model()))
    assert found.stale == pytest.approx(1)
    assert found.holds([0.25] * 4)


def test_other_vector_is_not_a_mixture_of_sample_gradients():
    of = trial()
    assert not unmix(of, torch.ones_like(mixed(of, [1, 0, 0, 0]))).linear
    assert not unmix(of, torch.full_like(mixed(of, [1, 0, 0, 0]), float("nan"))).linear


def test_infinite_gradient_is_said_to_hold_values_that_are_no_longer_numbers():
    of = trial()
    assert name_shares(of, torch.full_like(mixed(of, [1.0] * 4), float("inf"))) == (
        "It holds values that are no longer numbers (NaN or inf).",
        (),
    )


def each_of(of: BatchTrial, shift: int = 0) -> torch.Tensor:
    """Every sample's gradient, or that of its loss with the target of another one."""
    model, batches = of.model(), of.problem.batches()
    pairs = [(x, batches[k - shift][1]) for k, (x, _) in enumerate(batches)]
    return torch.stack([batch_gradient(model, of.loss_fn, one) for one in pairs])


def without_head(of: BatchTrial) -> torch.Tensor:
    mean, pieces = each_of(of).mean(0), dict(of.model().named_parameters())
    kept = [
        torch.full_like(piece, not name.startswith("head")).flatten() for name, piece in pieces.items() if piece.requires_grad
    ]
    return mean * torch.cat(kept)


RARER = {
    "It is the median of the samples' gradients, number by number, where their mean is due.": lambda of: each_of(of).median(0)[
        0
    ],
    "It is the largest of the samples' gradients, number by number, where their mean is due.": lambda of: each_of(of).max(0)[0],
    "It is made of losses that compare each sample with the target of another one.": lambda of: each_of(of, 1).sum(0),
    "It is the mean gradient plus 0.01 times the parameters, as weight decay adds them.": (
        lambda of: each_of(of).mean(0) + 0.01 * flat_parameters(of.model())
    ),
    "It is zero for head.weight, head.bias, and right for the other parameters.": without_head,
    "All its numbers have nearly the same size, as with Adam, although those of the mean gradient differ.": lambda of: (
        each_of(of).mean(0).sign()
    ),
    "It is close to the mean gradient, but not the same: it differs by 0.01 of it.": (
        lambda of: (mean := each_of(of).mean(0)) + 0.01 * mean.norm() * torch.eye(len(mean), dtype=mean.dtype)[0]
    ),
}


@pytest.mark.parametrize("words", RARER)
def test_a_rarer_vector_is_described(words):
    of = trial()
    assert name_shares(of, RARER[words](of)) == (words, ())


def test_a_gradient_shortened_to_a_round_length_is_said_to_be_clipped():
    of = trial()
    mean = mixed(of, [0.25] * 4)
    limit = max(length for length in ROUND if length < mean.norm())
    assert name_shares(of, mean * (limit / mean.norm()))[0].endswith(f" Its length is {limit:g}, as if it were clipped.")
    assert "clipped" not in name_shares(of, mean * (0.9 * limit / mean.norm()))[0]


def test_single_precision_is_precise_enough():
    of = trial(dtype="float32")
    assert name_shares(of, mixed(of, [0.25] * 4)) == ("", ())
    assert name_shares(of, mixed(of, [1.0] * 4))[1] == ("sums-samples",)


def test_gradient_computed_in_evaluation_mode_is_named():
    of, other = trial(gated=True), trial(gated=True, training=False)
    assert name_shares(of, mixed(other, [0.25] * 4))[1] == ("eval-mode",)
    assert name_shares(of, mixed(other, [1.0] * 4))[1] == ("eval-mode", "sums-samples")


@pytest.mark.parametrize("samples", exercises.SAMPLES)
def test_shares_differ_between_any_two_mistakes_and_from_the_right_ones(samples):
    by_slug = {slug: torch.tensor(rows, dtype=torch.float64) for slug, rows in wrong_shares(samples).items()}
    by_slug["right"] = torch.full((1, samples), 1 / samples, dtype=torch.float64)
    for (one, a), (other, b) in itertools.combinations(by_slug.items(), 2):
        assert torch.cdist(a, b, p=float("inf")).min() > 0.01, f"{one} and {other}"


def test_function_that_changes_nothing_is_not_said_to_change_anything():
    of = trial(stale=True, extras=True)
    assert changes(of, observe_gradients(lambda model, *_: {}, of)) == []


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (lambda model: model.zero_grad(), ".grad"),
        (lambda model: model.zero_grad(set_to_none=False), ".grad"),
        (lambda model: model.head.bias.data.add_(1e-12), "parameters"),
        (lambda model: model.eval(), "mode"),
        (lambda model: model.gate.eval(), "mode"),
        (lambda model: model.shift.requires_grad_(True), "requires_grad"),
    ],
)
def test_every_change_is_noticed_however_small(change, noticed):
    of = trial(stale=True, extras=True, gated=True)
    seen = observe_gradients(lambda model, *_: [change(model), {}][1], of)
    assert changes(of, seen) == [noticed]


@pytest.mark.parametrize("exercise", ["batch_gradient", "average_sample_gradients", "sgd_step"])
@pytest.mark.parametrize("answer", [None, {}, 0.0, [], {"head.weight": 1}, {1: torch.ones(3)}, "nonsense"])
def test_answer_of_wrong_type_earns_no_points_and_raises_nothing(exercise, answer):
    verdict = mark_function(all_exercises()[exercise], lambda *_: answer)
    assert verdict.score == 0
    assert all(result.message for result in verdict.results)


@pytest.mark.parametrize("shape", [(), (3,), (2, 8, 1)])
def test_gradient_of_wrong_shape_is_rejected(shape):
    def batch_gradient(model, loss_fn, x, y):
        return {name: torch.zeros(shape) for name, _ in model.named_parameters()}

    verdict = mark_function(all_exercises()["batch_gradient"], batch_gradient)
    assert verdict.score == 0
    assert "does not have the parameter" in verdict.results[0].message


def test_a_tensor_that_is_missing_is_not_put_down_to_what_grad_held():
    def of_layers(model, loss_fn, x, y):
        loss_fn(model(x), y)
        found = batch_gradient(model, loss_fn, (x, y))
        named = {name: p for name, p in model.named_parameters() if p.requires_grad}
        pieces = zip(named, found.split([p.numel() for p in named.values()]), strict=True)
        return {name: piece.view_as(named[name]) for name, piece in pieces if "." in name}

    verdict = mark_function(all_exercises()["batch_gradient"], of_layers)
    assert "There is no tensor under the name" in str(verdict)
    assert "infinity" not in str(verdict)


def plain_step(model, loss_fn, x, y, lr, largest=float("inf")):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), largest)
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()


def test_parameters_that_became_infinite_or_moved_a_little_are_not_said_to_be_unmoved():
    for rate in (float("inf"), 1e-9):
        verdict = mark_function(all_exercises()["sgd_step"], lambda *given, rate=rate: plain_step(*given[:4], rate))
        assert verdict.score < 2
        assert "have not moved" not in str(verdict)


@pytest.mark.parametrize("largest", ROUND)
def test_nothing_is_said_to_be_kept_between_calls_by_a_function_that_clips(largest):
    def clipped(*given):
        return plain_step(*given, largest)

    assert "First calls with other models were right." not in str(mark_function(all_exercises()["sgd_step"], clipped))


def test_a_function_that_keeps_its_first_rate_is_asked_whether_something_is_kept():
    rates = {}

    def first_rate(model, loss_fn, x, y, lr):
        return plain_step(model, loss_fn, x, y, rates.setdefault(loss_fn.__self__, lr))

    assert "Is something kept between calls?" in str(mark_function(all_exercises()["sgd_step"], first_rate))


def test_each_sample_may_be_taken_from_any_forward_pass_of_a_model_that_drops_values():
    def row_of_a_pass_for_each(model, loss_fn, x, y):
        losses = [loss_fn(model(x)[i : i + 1], y[i : i + 1]) for i in range(len(x))]
        named = dict(model.named_parameters())
        return dict(zip(named, torch.autograd.grad(sum(losses) / len(x), [*named.values()]), strict=True))

    assert mark_function(all_exercises()["average_sample_gradients"], row_of_a_pass_for_each, seed=0).passed


def test_gradients_of_different_passes_for_different_parameters_are_said_to_be_that():
    def pass_for_each_parameter(model, loss_fn, x, y):
        named = {name: p for name, p in model.named_parameters() if p.requires_grad}
        found = {name: torch.autograd.grad(loss_fn(model(x), y), p, allow_unused=True)[0] for name, p in named.items()}
        return {name: gradient for name, gradient in found.items() if gradient is not None}

    verdict = mark_function(all_exercises()["batch_gradient"], pass_for_each_parameter, seed=0)
    assert "those of different forward passes" in verdict.results[0].message


def test_a_small_share_of_every_sample_is_not_said_to_be_nothing():
    of = trial()
    assert "less than 0.0001 of any sample" in name_shares(of, mixed(of, [1e-5] * 4))[0]
    assert "1/4 of sample 1, less than 0.0001 of any other sample" in name_shares(of, mixed(of, [0.25, 1e-5, 0, 0]))[0]
    assert "nothing of any sample" in name_shares(of, mixed(of, [0] * 4))[0]
