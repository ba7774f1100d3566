"""Any loop can be watched run; watching changes nothing and demands nothing."""

from __future__ import annotations

import copy
from itertools import islice

import pytest
import torch

from gradaccum.loops import GALLERY, right
from gradaccum.problems import Problem, flat_parameters, trainable
from gradaccum.recording import LiveBytes, record

PROBLEM = Problem(accumulation_steps=2, epochs=((2, 3, 1), (2, 2)), width=8)


def kinds(recording) -> list[str]:
    return [event.kind for event in recording.events]


def test_events_come_in_the_order_in_which_they_happened():
    window = ["forward", "backward", "forward", "backward", "step", "clear"]
    assert kinds(record(right, PROBLEM)) == [*window, "forward", "backward", "step", "clear", *window]


def test_forwards_say_which_micro_batch_of_which_epoch_and_how_many_samples():
    forwards = [event for event in record(right, PROBLEM).events if event.kind == "forward"]
    assert [(e.epoch, e.micro_batch, e.size) for e in forwards] == [(0, 0, 2), (0, 1, 3), (0, 2, 1), (1, 0, 2), (1, 1, 2)]


def test_forwards_say_in_which_modes_they_ran():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        (x, _), *_ = micro_batches
        model(x)
        model.eval()
        with torch.no_grad():
            model(x)

    modes = [(event.training, event.grad_enabled) for event in record(loop, Problem()).events]
    assert modes == [(True, True), (False, False)]


@pytest.mark.parametrize(
    "clear",
    [
        lambda model, optimizer: optimizer.zero_grad(),
        lambda model, optimizer: optimizer.zero_grad(set_to_none=False),
        lambda model, optimizer: model.zero_grad(),
        lambda model, optimizer: [setattr(p, "grad", None) for p in model.parameters()],
        lambda model, optimizer: [p.grad.zero_() for p in model.parameters()],
    ],
)
def test_a_clear_is_recorded_however_it_is_written(clear):
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for x, y in micro_batches:
            loss_fn(model(x), y).backward()
            optimizer.step()
            clear(model, optimizer)

    assert kinds(record(loop, Problem(epochs=((2, 2),)))) == ["forward", "backward", "step", "clear"] * 2


def test_gradients_and_movements_belong_to_the_updates():
    recording = record(right, PROBLEM)
    assert recording.gradients.shape == recording.movements.shape == (3, 58)
    assert torch.allclose(recording.movements, PROBLEM.lr * recording.gradients)
    assert recording.update_epochs == (0, 0, 1)


def test_frozen_parameters_are_back_after_every_update():
    start = flat_parameters(PROBLEM.build_model())
    frozen = record(right, PROBLEM)
    assert torch.equal(frozen.parameters, torch.stack([start, start]))
    moving = record(right, PROBLEM, frozen=False)
    assert not torch.allclose(moving.parameters[0], start)
    assert torch.allclose(moving.parameters[0], start - moving.movements[:2].sum(0))


def test_what_the_loop_returns_is_kept_for_each_epoch():
    returned = iter(["first", "second"])
    assert record(lambda *arguments: next(returned), PROBLEM).returned == ("first", "second")


def test_how_much_of_a_stream_was_fetched_is_known_at_every_update():
    def reads_ahead(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for x, y in list(micro_batches):
            loss_fn(model(x), y).backward()
            optimizer.step()

    stream = Problem(accumulation_steps=2, epochs=((2, 2, 2, 2),), one_shot=True)
    assert record(right, stream).fetched == (2, 4)
    assert record(reads_ahead, stream).fetched == (4, 4, 4, 4)


def test_the_mode_the_model_is_left_in_is_known():
    assert record(right, PROBLEM).training_after
    assert not record(lambda model, *rest: model.eval(), PROBLEM).training_after


def test_an_error_in_the_loop_is_raised_and_earlier_events_are_reported():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        model(micro_batches[0][0])
        raise ZeroDivisionError("over")

    events = []
    with pytest.raises(ZeroDivisionError, match="over"):
        record(loop, PROBLEM, on_event=events.append)
    assert [event.kind for event in events] == ["forward"]


def test_hooks_are_gone_when_the_run_is_over():
    kept = []
    record(lambda model, loss_fn, optimizer, *rest: kept.append((model, optimizer)), PROBLEM)
    model, optimizer = kept[0]
    assert not model._forward_hooks
    assert not model._forward_pre_hooks
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks


def test_gradients_that_no_hook_sees_are_recorded_too():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        stream = iter(micro_batches)
        while window := list(islice(stream, accumulation_steps)):
            samples = sum(len(x) for x, _ in window)
            parts = [torch.autograd.grad(loss_fn(model.forward(x), y) * len(x) / samples, trainable(model)) for x, y in window]
            for p, gradients in zip(trainable(model), zip(*parts, strict=True), strict=True):
                p.grad = sum(gradients)
            optimizer.step()

    recording = record(loop, PROBLEM)
    assert kinds(recording) == ["step"] * 3
    assert torch.allclose(recording.gradients, record(right, PROBLEM).gradients)


def test_a_copy_of_the_model_is_watched_by_the_same_watcher():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        twin = copy.deepcopy(model)
        for x, y in micro_batches:
            loss_fn(twin(x), y).backward()

    assert kinds(record(loop, Problem(epochs=((2, 2),)))) == ["forward", "backward"] * 2


def test_the_recorded_parameters_are_those_of_the_model_as_it_was_given():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        del model.head
        for p in model.parameters():
            p.requires_grad_(False)

    assert record(loop, Problem(width=8)).parameters.shape == (1, 58)


def test_a_parameter_that_changes_its_shape_is_refused():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        model.head.bias.data = torch.zeros(1)

    with pytest.raises(ValueError, match="shape of a parameter"):
        record(loop, PROBLEM)


def test_reading_a_gradient_without_storing_it_is_not_recorded_as_a_clear():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for x, y in micro_batches:
            torch.autograd.grad(loss_fn(model(x), y), trainable(model))

    assert kinds(record(loop, Problem(epochs=((2, 2),)))) == ["forward", "backward"] * 2


def test_a_loop_may_change_the_list_of_micro_batches_it_is_given():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        micro_batches.clear()

    assert record(loop, PROBLEM).returned == (None, None)


def test_a_run_without_a_meter_counts_no_bytes():
    recording = record(right, PROBLEM)
    assert recording.peak_bytes == 0
    assert recording.curve == ()
    assert all(event.tick == event.live_bytes == 0 for event in recording.events)


@pytest.mark.parametrize("slug", GALLERY)
def test_metering_changes_nothing_in_the_run(slug):
    plain, metered = record(GALLERY[slug], PROBLEM), record(GALLERY[slug], PROBLEM, meter=True)
    assert torch.equal(plain.gradients, metered.gradients)
    assert kinds(plain) == kinds(metered)
    assert metered.peak_bytes == max(metered.curve) > 0


def test_metering_gives_the_same_bytes_every_time():
    assert record(right, PROBLEM, meter=True).curve == record(right, PROBLEM, meter=True).curve


def test_ticks_of_events_point_into_the_curve():
    recording = record(right, PROBLEM, meter=True)
    ticks = [event.tick for event in recording.events]
    assert ticks == sorted(ticks)
    assert ticks[-1] <= len(recording.curve)


def test_one_window_at_once_needs_more_memory_than_one_micro_batch_after_another():
    def at_once(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        sum(loss_fn(model(x), y) for x, y in micro_batches).backward()

    problem = Problem(accumulation_steps=8, epochs=((64,) * 8,), width=4, depth=6)
    assert record(at_once, problem, meter=True).peak_bytes > 6 * record(right, problem, meter=True).peak_bytes


def test_live_bytes_are_those_of_tensors_made_inside_the_block_and_still_alive():
    outside = torch.zeros(100)
    with LiveBytes() as live:
        assert live.now == 0
        made = outside + 1
        assert live.now == 400
        more = made * 2
        assert live.now == 800
        del made
        assert live.now == 400
        del more
        assert live.now == 0
    assert live.peak == 800
    assert live.curve == [400, 800]


def test_a_deep_copy_is_counted_and_what_it_was_made_of_is_not():
    outside = {"weight": torch.zeros(100)}
    with LiveBytes() as live:
        copied = copy.deepcopy(outside)
        assert live.now == 400
        del copied
        assert live.now == 0


def test_a_view_costs_nothing_and_keeps_its_storage_alive():
    with LiveBytes() as live:
        made = torch.ones(10, 10)
        view = made[2:].t()
        assert live.now == 400
        del made
        assert live.now == 400
        del view
        assert live.now == 0


def test_memory_freed_outside_and_used_again_inside_is_counted():
    with LiveBytes() as live:
        for _ in range(50):
            with live.pause():
                outside = torch.ones(1000)
            result = outside * 2
            assert live.now == 4000
            del outside
            reused = torch.ones(1000)  # at the address that has just been given back, as a rule
            assert live.now == 8000
            del result, reused


def test_nothing_is_counted_in_a_pause():
    with LiveBytes() as live:
        with live.pause():
            kept = torch.ones(100)
        kept.mul_(2)
        assert live.now == live.peak == 0


def test_memory_that_backward_needs_is_counted():
    x, w = torch.ones(64, 4), torch.ones(4, 4, requires_grad=True)
    with LiveBytes() as live:
        y = torch.tanh(torch.tanh(x @ w))
        before = live.now
        y.sum().backward()
    assert before == 2 * 64 * 4 * 4  # what both tanh give; the product itself is not needed any more
    assert live.peak > before


def under_autocast(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        right(model, loss_fn, optimizer, micro_batches, accumulation_steps)


def moves_a_parameter(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
    with torch.no_grad():
        next(model.parameters()).mul_(2)


def forgets_momentum(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
    optimizer.state.clear()


@pytest.mark.parametrize(
    ("loop", "what"),
    [
        (under_autocast, "precision"),
        (moves_a_parameter, "parameters"),
        (forgets_momentum, "state"),
    ],
)
@pytest.mark.parametrize("frozen", [True, False])
def test_what_a_loop_changes_outside_of_its_updates_is_noted(loop, what, frozen):
    assert record(loop, PROBLEM.with_(momentum=0.9), frozen=frozen).changed == (what,)


def test_updates_that_make_parameters_nan_change_nothing_outside():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for p in model.parameters():
            p.grad = torch.full_like(p, torch.nan)
        optimizer.step()

    assert record(loop, PROBLEM.with_(momentum=0.9), frozen=False).changed == ()
