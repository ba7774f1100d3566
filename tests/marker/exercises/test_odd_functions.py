"""Functions that are wrong in odd ways get their marks: no judge fails on what they bring about."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from autograder.exercises import all_exercises
from autograder.judging.reported_losses import UNASKED
from autograder.marking.in_process import mark_function
from gradaccum.loops import windows
from gradaccum.loops.contrastive import one_large_batch


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    """Updates after every micro-batch, and never moves the schedule."""
    rates = []
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
    return rates


def train_with_schedule_to_its_end_and_beyond(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    for x, y in micro_batches:
        for _ in range(9):
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()
            scheduler.step()


def train_epoch_amp(*arguments):
    """Tries to end the program, so that nothing is counted."""
    raise SystemExit


def accumulate_in_float32(model, loss_fn, micro_batches):
    """Right for few micro-batches, and of another shape for many."""
    named = dict(model.named_parameters())
    samples = sum(len(x) for x, _ in micro_batches)
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in named.items()}
    for x, y in micro_batches:
        for (name, _), g in zip(named.items(), torch.autograd.grad(loss_fn(model(x), y), list(named.values())), strict=True):
            totals[name] += len(x) / samples * g.float()
    return {name: total.repeat(2, *[1] * (total.dim() - 1)) if samples > 1000 else total for name, total in totals.items()}


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    """The gradient of logit_scale is so long that no float holds its quotient with the one due."""
    loss = one_large_batch(encode_image, encode_text, logit_scale, list(micro_batches))
    logit_scale.grad = torch.full_like(logit_scale, 1e308)
    return loss


def replace_batchnorm(model, num_groups):
    class GroupNorm(nn.Identity):
        """Has the name, and nothing else."""

    return nn.Sequential(*(GroupNorm() if isinstance(layer, nn.BatchNorm1d) else layer for layer in model.children()))


def huge_number(*arguments):
    return 10**400


ODD = {
    "train_with_schedule": (train_with_schedule, train_with_schedule_to_its_end_and_beyond),
    "train_epoch_amp": (train_epoch_amp,),
    "accumulate_in_float32": (accumulate_in_float32,),
    "accumulate_contrastive": (accumulate_contrastive,),
    "replace_batchnorm": (replace_batchnorm,),
    **dict.fromkeys(("matched_beta", "gradient_noise_scale", "saved_bytes", "plan_run"), (huge_number,)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "function"), [(name, function) for name, several in ODD.items() for function in several])
def test_function_that_is_wrong_in_an_odd_way_gets_marks(name, function):
    verdict = mark_function(all_exercises()[name], function)
    assert verdict.fault is None
    assert not verdict.passed


def test_loop_that_updates_too_often_at_one_rate_is_told_so():
    verdict = mark_function(all_exercises()["train_with_schedule"], train_with_schedule)
    assert "step-every" in [mistake.slug for mistake in verdict.mistakes]


NAMED = {
    "sgd_step": ["parameters-unmoved", "gradient-left-behind"],
    "plan_micro_batches": ["misfit-not-refused"],
    "accumulate_contrastive": ["encoder-not-reached"],
    "train_window": ["weights-unmoved"],
}
"""What is true of a function that does nothing: no more than that is named."""


@pytest.mark.parametrize("exercise", all_exercises().values(), ids=lambda exercise: exercise.id)
def test_a_function_that_does_nothing_is_told_only_that(exercise):
    verdict = mark_function(exercise, lambda *arguments, **keywords: None)
    assert not verdict.passed
    assert [mistake.slug for mistake in verdict.mistakes] == NAMED.get(exercise.id, [])
    assert "returned NoneType" not in str(verdict)
    assert "holds nothing" not in str(verdict)


@torch.no_grad()
def move(model, rate):
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter -= rate * parameter.grad


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    """Right, but for an update of its own."""
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / sum(len(inputs) for inputs, _ in window)).backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm).item())
        move(model, optimizer.param_groups[0]["lr"])
    return norms


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    """Right, but for an update of its own."""
    losses = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        tokens = sum(int((targets != ignore_index).sum()) for _, targets in window)
        losses.append(0.0)
        for x, targets in window:
            given = model(x).flatten(0, 1), targets.flatten()
            loss = nn.functional.cross_entropy(*given, ignore_index=ignore_index, reduction="sum") / max(tokens, 1)
            loss.backward()
            losses[-1] += loss.item()
        move(model, optimizer.param_groups[0]["lr"])
    return losses


@pytest.mark.parametrize(("function", "part"), [(train_epoch_clipped, "norms"), (train_epoch_tokens, "losses")])
def test_what_is_returned_is_not_called_wrong_where_the_optimizer_makes_no_update(function, part):
    verdict = mark_function(all_exercises()[function.__name__], function)
    assert {result.part.name: result.message for result in verdict.results}[part] == UNASKED
