"""Right trainers."""

from __future__ import annotations

import copy
import pickle

import torch
from torch import nn
from torch.nn import functional as F
from trainer_entries import DATA, WINDOWS, WORDS, adamw, cross_entropy, right, smoothed, summed, tokens_in, train


@right
def sum_of_losses_over_tokens_of_the_window(model):
    train(model, lambda m, x, y, window: summed(m, x, y) / tokens_in(window))


@right
def mean_weighted_by_tokens(model):
    train(model, lambda m, x, y, window: cross_entropy(m, x, y) * tokens_in([(x, y)]) / tokens_in(window))


@right
def losses_of_single_tokens_summed(model):
    train(model, lambda m, x, y, window: cross_entropy(m, x, y, reduction="none").sum() / tokens_in(window))


@right
def gradients_divided_by_tokens_before_the_step(model):
    optimizer = adamw(model)
    for window in WINDOWS:
        optimizer.zero_grad()
        for x, y in window:
            summed(model, x, y).backward()
        for parameter in model.parameters():
            parameter.grad.div_(tokens_in(window))
        optimizer.step()


@right
def clipped_by_norm(model):
    train(
        model,
        lambda m, x, y, window: summed(m, x, y) / tokens_in(window),
        before_step=lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.1),
    )


@right
def loss_written_by_hand(model):
    def loss_of(m, x, y, window):
        counted = y != -100
        picked = m(x).log_softmax(-1).gather(-1, y.where(counted, 0)[..., None])[..., 0]
        return -(picked * counted).sum() / tokens_in(window)

    train(model, loss_of)


@right
def label_smoothing_written_by_hand(model):
    train(model, lambda m, x, y, window: smoothed(m, x, y) / tokens_in(window))


@right
def model_copied_and_pickled_while_it_trains(model):
    def loss_of(m, x, y, window):
        average = copy.deepcopy(m)
        with torch.no_grad():
            pickle.loads(pickle.dumps(average))(x)
        return summed(m, x, y) / tokens_in(window)

    train(model, loss_of)


@right
def scaler_and_autocast_with_clipping(model):
    optimizer, scaler = torch.optim.SGD(model.parameters(), 1e-2), torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for window in WINDOWS:
        for x, y in window:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(x)
            loss = F.cross_entropy(out.float().flatten(0, 1), y.flatten(), reduction="sum") / tokens_in(window)
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


@right
def closure_that_accumulates(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for window in WINDOWS:

        def closure(window=window):
            optimizer.zero_grad()
            for x, y in window:
                loss = summed(model, x, y) / tokens_in(window)
                loss.backward()
            return loss

        optimizer.step(closure)


@right
def updates_by_hand(model):
    for window in WINDOWS:
        for x, y in window:
            (summed(model, x, y) / tokens_in(window)).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 1e-2 * parameter.grad
                parameter.grad = None


@right
def buffers_of_its_own(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for window in WINDOWS:
        buffers = [torch.zeros_like(parameter) for parameter in model.parameters()]
        for x, y in window:
            model.zero_grad()
            summed(model, x, y).backward()
            for buffer, parameter in zip(buffers, model.parameters(), strict=True):
                buffer += parameter.grad
        for buffer, parameter in zip(buffers, model.parameters(), strict=True):
            parameter.grad = buffer / tokens_in(window)
        optimizer.step()


@right(steps=1)
def ranking_loss_written_by_hand(model):
    """Its scores are in it twice: under a logarithm, and by themselves."""
    optimizer = adamw(model)
    for x, y in DATA:
        optimizer.zero_grad()
        scores = 20 * model(x).mean(1) @ model(y.clamp_min(0)).mean(1).T
        (scores.logsumexp(1) - scores.diagonal()).mean().backward()
        optimizer.step()


@right(steps=1)
def adversarial_pair_of_networks(model):
    judge = nn.Linear(WORDS, 1)
    optimizer, of_judge = adamw(model), adamw(judge)
    loss = F.binary_cross_entropy_with_logits
    for x, _ in DATA[:6]:
        made = model(x).mean(1)
        of_judge.zero_grad()
        (loss(judge(made.detach()), torch.zeros(2, 1)) + loss(judge(torch.ones(2, WORDS)), torch.ones(2, 1))).backward()
        of_judge.step()
        optimizer.zero_grad()
        loss(judge(made), torch.ones(2, 1)).backward()
        optimizer.step()


@right
def two_losses_with_a_factor(model):
    def loss_of(m, x, y, window):
        out = m(x).mean(1)
        return (0.3 * F.mse_loss(out, torch.zeros(2, WORDS)) + F.l1_loss(out, torch.ones(2, WORDS))) / len(window)

    train(model, loss_of)


@right
def gradients_from_autograd_grad(model):
    optimizer, parameters = adamw(model), list(model.parameters())
    for window in WINDOWS:
        total = [torch.zeros_like(parameter) for parameter in parameters]
        for x, y in window:
            for sum_, part in zip(total, torch.autograd.grad(summed(model, x, y) / tokens_in(window), parameters), strict=True):
                sum_ += part
        for parameter, sum_ in zip(parameters, total, strict=True):
            parameter.grad = sum_
        optimizer.step()
