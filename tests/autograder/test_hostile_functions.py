"""Whatever a student's function does to what it is given, or returns, there is a verdict, and it earns nothing unearned."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import autograder.exercises  # noqa: F401 - registers them
from autograder import transport
from autograder.exercise import EXERCISES, Observation, Verdict, judge_observations, mark_function, observe_trials
from autograder.verdict_view import as_html, as_text

FOUNDATION = [exercise.id for exercise in EXERCISES.values() if exercise.unit[:2] in ("00", "03", "04")]
DIFFERENT = [exercise for exercise in FOUNDATION if exercise not in ("repaired_early_clear", "repaired_eager_step")]
"""Without two of the three repairs, which are marked in the same way."""

LOOPS = ["accumulate_gradient", "train_epoch", "repaired_early_clear", "repaired_eager_step", "repaired_lost_tail"]


def marked(exercise: str, function) -> Verdict:
    """The verdict, marked as a file is but with little time; its text and its HTML can be made."""
    observations = observe_trials(EXERCISES[exercise], function, 0, "cpu", seconds=0.5)
    observations = {name: transport.plain(observation) for name, observation in observations.items()}
    verdict = judge_observations(EXERCISES[exercise], 0, "cpu", observations)
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


@pytest.mark.parametrize("exercise", DIFFERENT)
def test_any_returned_value_gets_a_verdict_that_gives_nothing(exercise):
    for value in VALUES:
        assert not marked(exercise, returning(value)).passed


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
@pytest.mark.parametrize("exercise", FOUNDATION)
def test_a_function_that_never_ends_and_swallows_everything_gets_a_verdict(exercise):
    verdict = marked(exercise, swallows_and_loops)
    assert verdict.score == 0
    assert verdict.failure.kind == "time"


def clears_the_list(model, loss_fn, optimizer, micro_batches):
    micro_batches.clear()


def spoils_the_data(model, loss_fn, optimizer, micro_batches):
    for x, y in micro_batches:
        x.zero_()
        y.resize_(0)


def deletes_a_layer(model, loss_fn, optimizer, micro_batches):
    del model.head


def deletes_all_parameters(model, loss_fn, optimizer, micro_batches):
    for module in model.modules():
        module._parameters.clear()


def replaces_parameters(model, loss_fn, optimizer, micro_batches):
    model.head = nn.Linear(8, 2).double()


def reshapes_parameters(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.data = torch.zeros(1)


def freezes_parameters(model, loss_fn, optimizer, micro_batches):
    model.requires_grad_(False)


def goes_to_half_precision(model, loss_fn, optimizer, micro_batches):
    model.half()


def goes_to_meta(model, loss_fn, optimizer, micro_batches):
    model.to("meta")


def poisons_parameters(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.data.fill_(float("nan"))


def empties_the_groups(model, loss_fn, optimizer, micro_batches):
    optimizer.param_groups.clear()


def changes_the_rate(model, loss_fn, optimizer, micro_batches):
    for group in optimizer.param_groups:
        group["lr"] = float("inf")


def forgets_the_rate(model, loss_fn, optimizer, micro_batches):
    for group in optimizer.param_groups:
        del group["lr"]


def adds_momentum(model, loss_fn, optimizer, micro_batches):
    for group in optimizer.param_groups:
        group["momentum"] = 0.9


def replaces_forward(model, loss_fn, optimizer, micro_batches):
    model.forward = lambda x: 0 * x


def replaces_step(model, loss_fn, optimizer, micro_batches):
    optimizer.step = lambda *arguments: None


def removes_hooks(model, loss_fn, optimizer, micro_batches):
    model._forward_hooks.clear()
    model._forward_pre_hooks.clear()
    optimizer._optimizer_step_pre_hooks.clear()
    optimizer._optimizer_step_post_hooks.clear()


def puts_strange_gradients(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.grad = torch.full_like(p, float("inf"))


def puts_sparse_gradients(model, loss_fn, optimizer, micro_batches):
    for p in model.parameters():
        p.grad = torch.zeros_like(p).to_sparse()


def steps_very_often(model, loss_fn, optimizer, micro_batches):
    for _ in range(200):
        optimizer.step()


def leaves_gradients_off(model, loss_fn, optimizer, micro_batches):
    torch.set_grad_enabled(False)


def leaves_other_defaults(model, loss_fn, optimizer, micro_batches):
    torch.set_default_dtype(torch.float16)


def leaves_a_hook_that_raises(model, loss_fn, optimizer, micro_batches):
    def fail(*arguments):
        raise RuntimeError("left behind")

    model.register_forward_hook(fail)
    optimizer.register_step_post_hook(fail)


MEDDLERS = [
    *(clears_the_list, spoils_the_data, deletes_a_layer, deletes_all_parameters, replaces_parameters, reshapes_parameters),
    *(freezes_parameters, goes_to_half_precision, goes_to_meta, poisons_parameters, empties_the_groups, changes_the_rate),
    *(forgets_the_rate, adds_momentum, replaces_forward, replaces_step, removes_hooks, puts_strange_gradients),
    *(puts_sparse_gradients, steps_very_often, leaves_gradients_off, leaves_other_defaults, leaves_a_hook_that_raises),
]


def train(model, loss_fn, optimizer, micro_batches, accumulation_steps=1):
    """The ordinary loop, right in nothing but its signature."""
    losses = []
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        loss.backward()
        if optimizer is not None:
            optimizer.step()
        losses.append(loss.item())
    return losses


def meddling(exercise: str, meddle, when: str):
    """A function of an exercise that meddles and then trains, or trains and then meddles."""

    def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        if when == "before":
            meddle(model, loss_fn, optimizer, micro_batches)
        losses = train(model, loss_fn, optimizer, micro_batches)
        if when == "after":
            meddle(model, loss_fn, optimizer, micro_batches)
        return losses

    def accumulate_gradient(model, loss_fn, micro_batches):
        train_epoch(model, loss_fn, torch.optim.SGD(model.parameters(), lr=0.0), micro_batches, 1)

    return accumulate_gradient if exercise == "accumulate_gradient" else train_epoch


@pytest.fixture
def defaults():
    before = torch.get_default_dtype(), torch.is_grad_enabled()
    yield
    torch.set_default_dtype(before[0])
    torch.set_grad_enabled(before[1])


@pytest.mark.parametrize("exercise", ["accumulate_gradient", "train_epoch", "repaired_lost_tail"])
@pytest.mark.parametrize("meddle", MEDDLERS)
def test_meddling_with_what_is_given_gets_a_verdict(exercise, meddle, defaults):
    for when in ("before", "after"):
        assert not marked(exercise, meddling(exercise, meddle, when)).passed


def test_meddling_in_one_exercise_does_not_change_the_next_verdict(defaults):
    def right(gradients):
        return sum(gradients) / len(gradients)

    for meddle in MEDDLERS:
        marked("repaired_lost_tail", meddling("repaired_lost_tail", meddle, "after"))
        assert mark_function(EXERCISES["average_gradients"], right).passed


@pytest.mark.parametrize("exercise", LOOPS)
def test_observations_without_content_get_a_verdict_or_an_error_that_marking_catches(exercise):
    empty = dict.fromkeys(EXERCISES[exercise].trials(0, "cpu"), Observation())
    try:
        assert not judge_observations(EXERCISES[exercise], 0, "cpu", empty).passed
    except (KeyError, TypeError):
        pass


def test_a_missing_observation_means_that_the_process_died():
    verdict = judge_observations(EXERCISES["train_epoch"], 0, "cpu", {})
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


def test_a_part_that_is_not_written_yet_costs_its_own_points():
    verdict = marked("train_epoch", fails_on_streams)
    assert [result.part.name for result in verdict.results if not result.passed] == ["stream"]


def test_a_trial_that_never_ends_costs_itself_and_those_after_it():
    verdict = marked("train_epoch", hangs_on_streams)
    assert [result.part.name for result in verdict.results if result.passed] == ["full", "leftover", "ragged"]
    assert verdict.failure.kind == "time"


@pytest.mark.parametrize("exercise", FOUNDATION)
def test_a_stub_gets_nothing_and_is_called_unwritten(exercise):
    def stub(*arguments):
        """To be written."""
        raise NotImplementedError

    verdict = marked(exercise, stub)
    assert verdict.score == 0
    assert verdict.failure.kind == "unwritten"
    assert verdict.failure_everywhere
