"""Bytes are counted as autograd counts them, and a wrong number is explained by the way of counting that yields it."""

from __future__ import annotations

import pytest
import torch

from autograder.exercises import all_exercises
from autograder.exercises.unit_02_memory_limits.judging.byte_counts import (
    RARE_COUNTS,
    CountVariant,
    count_in_words,
    count_variants,
    due_bytes,
    name_count,
    play,
    run_forward,
)
from autograder.marking.in_process import mark_function

SEEDS = range(8)


def trials(seed: int):
    return list(all_exercises()["saved_bytes"].trials(seed, "cpu").values())


def bytes_found_in_the_graph(trial) -> int:
    """Another way to the same number: walk the graph and look into its nodes."""
    model = trial.model()
    todo, storages = [trial.loss_fn(model(trial.batch()[0]), trial.batch()[1]).grad_fn], []
    while todo:
        node = todo.pop()
        todo += [parent for parent, _ in node.next_functions if parent is not None]
        kept = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        storages += [tensor.untyped_storage() for tensor in kept if isinstance(tensor, torch.Tensor)]
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
    return sum(size for address, size in sizes.items() if address not in parameters)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_due_number_is_what_the_graph_holds(seed):
    for trial in trials(seed):
        assert due_bytes(trial) == bytes_found_in_the_graph(trial), trial.kind


@pytest.mark.parametrize("seed", SEEDS)
def test_no_wrong_way_of_counting_is_right_on_all_models(seed):
    forwards = {trial: run_forward(trial) for trial in trials(seed)}
    for variant, slugs in count_variants():
        if slugs:
            assert any(play(variant, forward) != play(CountVariant(), forward) for forward in forwards.values()), variant


@pytest.mark.parametrize("words", RARE_COUNTS)
def test_a_rare_count_is_described(words):
    forwards = {trial: run_forward(trial) for trial in trials(0)}
    assert count_in_words({trial: RARE_COUNTS[words](forward) for trial, forward in forwards.items()}) == words


def test_the_right_numbers_and_no_numbers_are_not_described():
    assert count_in_words({trial: due_bytes(trial) for trial in trials(0)}) == ""
    assert count_in_words({}) == ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_single_mistake_is_named_alone(seed):
    forwards = {trial: run_forward(trial) for trial in trials(seed)}
    for variant, slugs in count_variants():
        if len(slugs) == 1:
            assert name_count({trial: play(variant, forward) for trial, forward in forwards.items()}) == slugs, variant


@pytest.mark.parametrize("seed", SEEDS)
def test_letting_tensors_go_while_counting_yields_too_few_bytes(seed):
    def counted(pack):
        trial = all_exercises()["saved_bytes"].trials(seed, "cpu")["deep"]
        sizes, model = {}, trial.model()

        def note(tensor):
            sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return pack(tensor)

        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss = trial.loss_fn(model(trial.batch()[0]), trial.batch()[1])
        assert loss.requires_grad
        return sum(sizes.values()), model._let_go

    (less, let_go), (due, kept) = counted(lambda tensor: None), counted(lambda tensor: tensor)
    assert less < due
    assert (let_go, kept) == (True, False)


def test_each_part_is_about_a_single_mistake():
    """A count that is wrong in one way loses the part that is about it, not all four."""
    forwards = {trial.kind: run_forward(trial) for trial in trials(0)}
    wrong = {
        "counts-twice": CountVariant(once="never"),
        "counts-parameters": CountVariant(parameters="all"),
        "views-cut-short": CountVariant(size="elements"),
    }
    lost = {
        slug: {kind for kind, forward in forwards.items() if play(variant, forward) != play(CountVariant(), forward)}
        for slug, variant in wrong.items()
    }
    assert lost == {"counts-twice": {"shared", "gated"}, "counts-parameters": {"deep"}, "views-cut-short": {"gated"}}


def test_a_number_that_no_way_of_counting_yields_has_no_name():
    assert name_count(dict.fromkeys(trials(0), 12345)) is None


@pytest.mark.slow
@pytest.mark.parametrize("answer", [None, "many", float("nan"), float("inf"), True, [1], -1, 10**400])
def test_an_answer_of_another_kind_earns_nothing_and_breaks_nothing(answer):
    for name in ("saved_bytes", "memory_line", "plan_micro_batches"):
        assert mark_function(all_exercises()[name], lambda *_: answer).score == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_single_number_is_not_explained(seed):
    def saved_bytes(model, loss_fn, x, y):
        return x.nbytes + y.nbytes + model.weight.nbytes  # only one of the models has a weight of its own

    verdict = mark_function(all_exercises()["saved_bytes"], saved_bytes, seed=seed)
    assert not verdict.mistakes
    assert not verdict.remark
