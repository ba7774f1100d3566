"""Problems of tokens: what is padded, what is counted, and that they are remade the same everywhere."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradaccum.fingerprint import batch_gradient, expected, micro_batch_gradients
from gradaccum.problems.tokens import VOCABULARY, TokenProblem, counted, one_large_batch, token_loss

UNEVEN = ((2,), (2, 4), (1, 2, 6), (7, 8))
PROBLEM = TokenProblem(seed=3, lengths=(UNEVEN, ((3, 1),)), width=8)

epochs_of_lengths = st.lists(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple), min_size=1, max_size=4).map(tuple),
    min_size=1,
    max_size=2,
).map(tuple)


@given(epochs_of_lengths, st.sampled_from([-100, 0]), st.integers(0, 5))
def test_targets_that_count_are_as_many_as_the_lengths_say(lengths, ignore_index, seed):
    problem = TokenProblem(seed=seed, lengths=lengths, ignore_index=ignore_index)
    for epoch, sizes in enumerate(problem.epochs):
        batches = problem.batches(epoch)
        assert tuple(int((targets != ignore_index).sum()) for _, targets in batches) == sizes
        assert [targets.shape for _, targets in batches] == [x.shape for x, _ in batches]
        assert all(int(x.min()) >= 0 and int(x.max()) < VOCABULARY for x, _ in batches)


@pytest.mark.parametrize("ignore_index", [-100, 7])
def test_token_0_is_a_target_if_it_counts_and_the_ignored_one_only_where_there_is_nothing_to_predict(ignore_index):
    problem = TokenProblem(lengths=(((3, 2), (4,)),), ignore_index=ignore_index, zero_counts=True)
    targets = [targets for _, targets in problem.batches()]
    assert all((part[:, 0] == 0).all() for part in targets)
    assert [int((part == ignore_index).sum()) for part in targets] == [1, 0]


def test_a_position_sees_only_the_tokens_before_the_one_it_has_to_predict():
    inputs, targets = PROBLEM.batches()[3]
    assert inputs[1, 1:].equal(targets[1, :-1])
    assert inputs[:, 0].tolist() == [0, 0]


def test_padding_does_not_change_the_logits_of_tokens():
    model, (inputs, _) = PROBLEM.build_model(), PROBLEM.batches()[2]
    short = model(inputs[:1, :1])
    assert torch.allclose(model(inputs)[:1, :1], short, rtol=0, atol=1e-14)


def test_one_large_batch_has_the_token_mean_of_its_micro_batches():
    model, batches = PROBLEM.build_model(), PROBLEM.batches()
    large = batch_gradient(model, PROBLEM.loss_fn, one_large_batch(batches))
    shares = expected(PROBLEM).coefficients[0, : len(batches)]
    assert torch.allclose(shares @ micro_batch_gradients(PROBLEM)[: len(batches)], large, rtol=0, atol=1e-14)


def test_right_shares_are_those_of_what_is_counted():
    assert PROBLEM.epochs == ((2, 6, 9, 15), (4,))
    assert PROBLEM.with_(weigh_by="sequences").epochs == ((1, 2, 3, 2), (2,))
    assert PROBLEM.with_(weigh_by="positions").epochs == ((2, 8, 18, 16), (6,))


def test_a_micro_batch_of_nothing_but_padding_has_a_position_and_no_token():
    assert counted((0, 0), "tokens") == 0
    assert counted((0, 0), "positions") == 2
    (x, targets), *_ = TokenProblem(lengths=(((0, 0),),)).batches()
    assert x.shape == (2, 1)
    assert token_loss(torch.zeros(2, 1, VOCABULARY), targets).isnan()


@pytest.mark.parametrize(("mean_over", "count"), [("tokens", 9), ("positions", 18), ("sequences", 3)])
def test_the_loss_is_a_mean_over_what_mean_over_names(mean_over, count):
    logits = torch.randn(3, 6, VOCABULARY, generator=torch.Generator().manual_seed(0))
    targets = PROBLEM.batches()[2][1]
    total = 9 * token_loss(logits, targets)
    assert token_loss(logits, targets, mean_over=mean_over) == pytest.approx(float(total / count), rel=1e-5)


def test_a_problem_may_have_a_loss_that_counts_padding_as_tokens():
    padded_with_a_token = PROBLEM.with_(ignore_index=0, mean_over="padding too")
    model, (x, targets) = PROBLEM.build_model(), padded_with_a_token.batches()[2]
    every = -model(x).log_softmax(-1).gather(-1, targets[..., None])
    assert padded_with_a_token.loss_fn(model(x), targets).item() == pytest.approx(every.mean().item())


def test_problems_are_remade_the_same_and_differ_by_seed():
    again, other = PROBLEM.with_(), PROBLEM.with_(seed=4)
    assert again.batches()[2][1].equal(PROBLEM.batches()[2][1])
    assert not other.batches()[3][1].equal(PROBLEM.batches()[3][1])
    assert again == PROBLEM
    assert hash(again) == hash(PROBLEM)


@pytest.mark.parametrize(
    "changes", [{"lengths": (((1, -1),),)}, {"lengths": (((),),)}, {"weigh_by": "words"}, {"mean_over": ""}]
)
def test_impossible_lengths_and_unknown_names_are_refused(changes):
    with pytest.raises(ValueError, match=r"every micro-batch needs|to count"):
        PROBLEM.with_(**changes)
