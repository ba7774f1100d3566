"""Verdicts never show the problem that a function was run on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import torch

from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function, trials_of
from autograder.observing.loops import LoopTrial
from autograder.showing.verdict_html import as_html, as_text

SEED = 271828182845


def numbers_of(problem) -> Iterator[float]:
    yield from problem.build_model().head.weight.flatten().tolist()
    for epoch in range(len(problem.epochs)):
        for x, y in problem.batches(epoch):
            yield from (*x.flatten().tolist(), *y.flatten().tolist())


def secrets(exercise) -> set[str]:
    """The first four significant digits of each hidden number, by which it would be recognised."""
    problems = [trial.problem for trial in trials_of(exercise, SEED).values() if isinstance(trial, LoopTrial)]
    return {f"{abs(number):.10e}"[:5].replace(".", "") for problem in problems for number in list(numbers_of(problem))[:300]}


def verdict_text(exercise: str, function) -> str:
    verdict = mark_function(all_exercises()[exercise], function, SEED)
    assert not verdict.passed
    text = as_text(verdict) + re.sub(r'style="[^"]*"', "", as_html(verdict))
    return "".join([*text.split("Fingerprint expected:")[:1], verdict.remark])


def in_words(data) -> str:
    return " ".join(str(part) for part in data)


def by_text(x, y):
    raise ValueError(str(x))


def by_list(x, y):
    raise RuntimeError(f"{x.tolist()} {y.tolist()}")


def by_digits(x, y):
    raise RuntimeError(in_words((x * 1e4).long().flatten().tolist()))


def by_pairs_of_digits(x, y):
    text = "".join(f"{abs(value):.8f}".replace(".", "") for value in x.flatten().tolist())
    raise RuntimeError(in_words(text[k : k + 2] for k in range(0, len(text), 2)))


def by_assertion(x, y):
    assert not x.any(), x.tolist()


def by_key(x, y):
    return {}[int(abs(x[0, 0]) * 1e8)]


def by_tuple_of_keys(x, y):
    return {}[tuple((x * 1e4).long().flatten().tolist())]


def by_conversion(x, y):
    return float(str(x.tolist()))


def by_shape(x, y):
    return x.reshape([int(abs(value) * 1e4) + 1 for value in x.flatten().tolist()])


def by_bytes(x, y):
    raise ValueError(x.numpy().tobytes().hex())


def by_format(x, y):
    return format(x[0, 0].item(), "=" + str(x.tolist()))


LEAKS = [
    *(by_text, by_list, by_digits, by_pairs_of_digits, by_assertion, by_key, by_tuple_of_keys, by_conversion, by_shape),
    *(by_bytes, by_format),
]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", ["accumulate_gradient", "train_epoch", "repaired_lost_tail"])
@pytest.mark.parametrize("leak", LEAKS)
def test_error_message_made_from_the_data_does_not_show_the_data(exercise, leak):
    def function(model, loss_fn, *rest):
        micro_batches = rest[0] if exercise == "accumulate_gradient" else rest[1]
        leak(*next(iter(micro_batches)))

    text = verdict_text(exercise, function)
    found = {secret for secret in secrets(all_exercises()[exercise]) if secret in text}
    assert not found
    assert str(SEED) not in text
    assert not re.search(r"\d\.\d{3}", text)
    assert not re.search(r"(\d+\D{1,2}){7}", text.split("raised")[1].split("(line")[0])
    assert not re.search(r"[0-9a-f]{16}", text)


@pytest.mark.parametrize("leak", LEAKS)
def test_error_message_in_the_practice_exercise_does_not_show_its_gradients(leak):
    def average_gradients(gradients):
        leak(torch.stack(gradients), torch.zeros(1))

    text = verdict_text("average_gradients", average_gradients)
    assert not re.search(r"\d\.\d{3}", text)
    assert not re.search(r"\d{5}", text)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", ["accumulate_gradient", "train_epoch", "repaired_lost_tail"])
def test_verdict_on_a_wrong_loop_shows_no_numbers_of_the_problem(exercise):
    def function(model, loss_fn, *rest):
        optimizer, micro_batches = (None, rest[0]) if exercise == "accumulate_gradient" else rest[:2]
        losses = []
        for x, y in micro_batches:
            loss = loss_fn(model(x), y) * torch.rand(1).item()
            loss.backward()
            losses.append(loss.item())
            if optimizer is not None:
                optimizer.step()
        return losses

    text = verdict_text(exercise, function)
    assert not {secret for secret in secrets(all_exercises()[exercise]) if secret in text}
    assert str(SEED) not in text
