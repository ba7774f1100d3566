"""Whatever a student's function does to what it is given, or returns, there is a verdict, and it earns nothing unearned."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from autograder.contract.observation import Observation
from autograder.contract.verdict import Verdict
from autograder.exercises import all_exercises
from autograder.isolation import wire
from autograder.marking.in_process import judge_observations, observe_function, trials_of
from autograder.showing.verdict_html import as_html, as_text

BASICS = [exercise.id for exercise in all_exercises().values() if exercise.unit[:2] in ("00", "03", "04")]
DIFFERENT = [exercise for exercise in BASICS if exercise not in ("repaired_early_clear", "repaired_eager_step")]
"""Without two of the three repairs, which are marked in the same way."""

LOOPS = ["accumulate_gradient", "train_epoch", "repaired_early_clear", "repaired_eager_step", "repaired_lost_tail"]


@pytest.fixture(autouse=True, scope="module")
def what_the_first_optimizer_imports():
    """On a busy machine that alone takes longer than the time allowed here, and torch does not survive being interrupted."""
    torch.optim.SGD([torch.zeros(1, requires_grad=True)])


def marked(exercise: str, function) -> Verdict:
    """The verdict, marked as a file is but with little time; its text and its HTML can be made."""
    observations = observe_function(
        all_exercises()[exercise], function, trials_of(all_exercises()[exercise], 0, "cpu"), seconds=0.5
    )
    observations = {name: wire.plain(observation) for name, observation in observations.items()}
    verdict = judge_observations(all_exercises()[exercise], trials_of(all_exercises()[exercise], 0, "cpu"), observations)
    assert as_text(verdict)
    assert as_html(verdict).startswith("<div")
    assert isinstance(verdict.score, float)
    return verdict


def wrong_signature():
    return 1


def too_many(a, b, c, d, e, f, g):
    return 1


def generator(*arguments):
    yield 1.0


async def coroutine(*arguments):
    return 1.0


def raises_base_exception(*arguments):
    raise BaseException("gone")


def raises_keyboard_interrupt(*arguments):
    raise KeyboardInterrupt


def exits(*arguments):
    raise SystemExit(3)


def recurses(*arguments):
    return recurses(*arguments)


def swallows_and_loops(*arguments):
    while True:
        try:
            sum(range(1000))
        except BaseException:
            pass


class Awkward:
    """Refuses everything a value may be asked for."""

    def __init__(self, *arguments):
        pass

    def __getattr__(self, name):
        raise RuntimeError("no")

    def __bool__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __float__ = __iter__ = __len__ = __bool__
    __hash__ = None


class LyingNumber(float):
    """A float that claims to equal everything."""

    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__
    __hash__ = float.__hash__


class LyingList(list):
    """A list that claims to equal everything and to be endless."""

    def __eq__(self, other):
        return True

    def __iter__(self):
        while True:
            yield 0.0


def returning(value):
    def function(*arguments):
        return value() if isinstance(value, type) else value

    return function


VALUES = [
    *(None, "text", b"bytes", float("nan"), float("inf"), -float("inf"), 1e400, 10**5000, 1j, object, Awkward, Awkward()),
    *([], {}, (), set(), [None], [[]], ["a"], [float("nan")] * 3, [Awkward()], {"A": Awkward()}, {Awkward: 1}, {1: {}}),
    *(LyingNumber(3.0), LyingList([1.0]), [LyingNumber(0.0)] * 3, range(10**9), [0.0] * 100_000, "x" * 10**6),
    *(torch.tensor(1.0), torch.ones(3), torch.ones(2, 5), torch.empty(0), torch.ones(5, device="meta")),
    *(torch.ones(5, dtype=torch.complex128), torch.ones(5).to_sparse(), torch.full((5,), float("nan")), nn.Linear(2, 2)),
    *(
        torch.ones(5, dtype=torch.bool),
        torch.ones(5, requires_grad=True),
        torch.ones(5, device="meta").requires_grad_(),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", DIFFERENT)
def test_any_returned_value_gets_a_verdict_that_gives_nothing(exercise):
    for value in VALUES:
        assert not marked(exercise, returning(value)).passed


@pytest.mark.slow
@pytest.mark.parametrize("exercise", DIFFERENT)
@pytest.mark.parametrize(
    "function",
    [
        *(wrong_signature, too_many, generator, coroutine, raises_base_exception, raises_keyboard_interrupt, exits, recurses),
        *(print, len, int, dict, Awkward, LyingList),
    ],
)
def test_any_function_gets_a_verdict_that_gives_nothing(exercise, function):
    assert not marked(exercise, function).passed


@pytest.mark.slow
@pytest.mark.parametrize("exercise", BASICS)
def test_a_function_that_never_ends_and_swallows_everything_gets_a_verdict(exercise):
    verdict = marked(exercise, swallows_and_loops)
    assert verdict.score == 0
    assert verdict.failure.kind == "time"


@pytest.mark.parametrize("exercise", LOOPS)
def test_empty_observations_fit_no_schema_and_earn_nothing(exercise):
    empty = dict.fromkeys(all_exercises()[exercise].trials(0, "cpu"), Observation())
    verdict = judge_observations(all_exercises()[exercise], trials_of(all_exercises()[exercise], 0, "cpu"), empty)
    assert verdict.score == 0
    assert verdict.failure.kind == "misfit"


def test_a_missing_observation_means_that_the_process_died():
    verdict = judge_observations(all_exercises()["train_epoch"], trials_of(all_exercises()["train_epoch"], 0, "cpu"), {})
    assert verdict.score == 0
    assert verdict.failure.kind == "died"


def fails_on_streams(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    if not isinstance(micro_batches, list):
        raise NotImplementedError
    return right_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)


def hangs_on_streams(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    while not isinstance(micro_batches, list):
        pass
    return right_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)


def right_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for first in range(0, len(micro_batches), accumulation_steps):
        window = micro_batches[first : first + accumulation_steps]
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        parts = []
        for x, y in window:
            part = loss_fn(model(x), y) * len(x) / samples
            part.backward()
            parts.append(part.item())
        optimizer.step()
        losses.append(sum(parts))
    return losses


def test_a_part_that_is_not_written_yet_costs_only_its_own_points():
    verdict = marked("train_epoch", fails_on_streams)
    assert [result.part.name for result in verdict.results if not result.passed] == ["stream"]


@pytest.mark.slow
def test_a_trial_that_never_ends_costs_itself_and_those_after_it():
    verdict = marked("train_epoch", hangs_on_streams)
    assert [result.part.name for result in verdict.results if result.passed] == ["full", "leftover", "ragged"]
    assert verdict.failure.kind == "time"


@pytest.mark.parametrize("exercise", BASICS)
def test_an_unwritten_function_gets_no_points_and_is_reported_as_unwritten(exercise):
    def stub(*arguments):
        """To be written."""
        raise NotImplementedError

    verdict = marked(exercise, stub)
    assert verdict.score == 0
    assert verdict.failure.kind == "unwritten"
    assert verdict.failure_everywhere
