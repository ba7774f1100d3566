"""Problems are data: small, seeded, and the same wherever and whenever they are made."""

from __future__ import annotations

import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gradaccum.problems import (
    Problem,
    best_dtype,
    flat_gradient,
    flat_gradients,
    flat_parameters,
    flat_values,
    trainable,
)

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=6).map(tuple)
PROBLEMS = st.builds(
    Problem,
    seed=st.integers(-(2**70), 2**70),
    accumulation_steps=st.integers(1, 5),
    epochs=st.lists(SIZES, min_size=1, max_size=3).map(tuple),
    width=st.integers(1, 6),
    depth=st.integers(1, 3),
    stale=st.booleans(),
    one_shot=st.booleans(),
    extras=st.booleans(),
    gated=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
)
"""Any problem, with seeds no generator would take as they are."""


def everything(problem: Problem) -> list[torch.Tensor]:
    model = problem.build_model()
    batches = [tensor for epoch in range(len(problem.epochs)) for pair in problem.batches(epoch) for tensor in pair]
    return [flat_parameters(model), flat_gradient(model), *batches]


@settings(max_examples=50)
@given(PROBLEMS)
def test_a_problem_is_the_same_every_time_it_is_made(problem):
    again = pickle.loads(pickle.dumps(problem))
    assert all(map(torch.equal, everything(problem), everything(again)))


@settings(max_examples=50)
@given(PROBLEMS)
def test_micro_batches_have_the_sizes_that_were_asked_for(problem):
    for epoch, sizes in enumerate(problem.epochs):
        batches = problem.batches(epoch)
        assert tuple(len(x) for x, _ in batches) == tuple(len(y) for _, y in batches) == sizes
        assert all(x.shape[1:] == (4,) and y.shape[1:] == (2,) for x, y in batches)
        assert all(t.dtype == problem.torch_dtype for pair in batches for t in pair)


@settings(max_examples=20)
@given(PROBLEMS)
def test_making_a_problem_leaves_the_global_random_state_alone(problem):
    before = torch.get_rng_state()
    everything(problem)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_student_s_default_dtype_and_device_change_nothing():
    problem = Problem(seed=5, stale=True, extras=True)
    due = everything(problem)
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float16)
        with torch.device("meta"):
            found = everything(problem)
    finally:
        torch.set_default_dtype(before)
    assert all(map(torch.equal, found, due))


def test_seeds_and_epochs_give_different_data():
    problem = Problem(seed=1, epochs=((2, 2), (2, 2)))
    first, second = (torch.cat([x for x, _ in problem.batches(epoch)]) for epoch in (0, 1))
    other = torch.cat([x for x, _ in problem.with_(seed=2).batches()])
    assert not torch.equal(first, second)
    assert not torch.equal(first, other)
    assert not torch.equal(flat_parameters(problem.build_model()), flat_parameters(problem.with_(seed=2).build_model()))


def test_shape_options_do_not_change_the_data():
    problem = Problem(seed=1)
    changed = problem.with_(stale=True, one_shot=True, extras=True, gated=True, width=3, depth=2)
    assert torch.equal(problem.batches()[0][0], changed.batches()[0][0])


@pytest.mark.parametrize("epochs", [(), ((),), ((2, 0),), ((2,), (-1,))])
def test_an_epoch_without_samples_is_refused(epochs):
    with pytest.raises(ValueError, match="at least one sample"):
        Problem(epochs=epochs)


def test_less_than_one_accumulation_step_is_refused():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Problem(accumulation_steps=0)


def test_a_stream_can_be_walked_through_once_and_has_no_length():
    stream = Problem(one_shot=True).micro_batches()
    assert not hasattr(stream, "__len__")
    assert len(list(stream)) == 4
    assert not list(stream)
    assert isinstance(Problem().micro_batches(), list)


def test_extras_are_a_frozen_and_an_unused_parameter():
    problem = Problem(extras=True)
    model = problem.build_model()
    frozen = [p for p in model.parameters() if not p.requires_grad]
    (x, y), *_ = problem.batches()
    problem.loss_fn(model(x), y).backward()
    assert len(frozen) == 1
    assert bool(frozen[0].any())
    assert [p for p in trainable(model) if p.grad is None] == [model.unused]


def test_a_gated_model_acts_differently_in_evaluation_mode_and_without_chance():
    problem = Problem(gated=True)
    model, (x, _) = problem.build_model(), problem.batches()[0]
    trained, evaluated = model(x), model.eval()(x)
    assert not torch.allclose(trained, evaluated)
    assert torch.equal(model.train()(x), trained)
    plain = problem.with_(gated=False).build_model()
    assert torch.equal(plain(x), plain.eval()(x))


def test_a_stale_problem_starts_with_nonzero_gradients():
    model = Problem(stale=True).build_model()
    assert all(bool(p.grad.any()) for p in trainable(model))
    assert not flat_gradient(Problem().build_model()).any()


def test_an_absent_gradient_counts_as_zero():
    layer = nn.Linear(2, 1)
    layer.bias.grad = torch.ones(1)
    assert flat_gradient(layer).tolist() == [0, 0, 1]
    assert flat_gradients([layer.bias]).tolist() == [1]
    assert flat_values([layer.bias]).tolist() == layer.bias.tolist()


def test_flat_vectors_are_copies():
    layer = nn.Linear(2, 1)
    flat_parameters(layer).zero_()
    assert bool(layer.weight.any())


def test_the_optimizer_is_plain_sgd():
    problem = Problem(lr=0.3)
    optimizer = problem.build_optimizer(problem.build_model())
    group = optimizer.param_groups[0]
    assert (group["lr"], group["momentum"], group["weight_decay"]) == (0.3, 0, 0)


def test_double_precision_is_used_wherever_there_is_one():
    assert best_dtype("cpu") == best_dtype("cuda") == best_dtype("cuda:1") == "float64"
    assert best_dtype("mps") == "float32"
