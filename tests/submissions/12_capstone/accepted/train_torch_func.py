"""Differentiates a functional call with torch.func."""

import os
from itertools import islice

import torch
from torch.func import functional_call, grad_and_value
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"


def train_window(run, window, max_norm):
    named = {name: p.detach() for name, p in run.model.named_parameters()}
    tokens = sum(tokens_in(y) for _, y in window)

    def share(values, x, y):
        return token_loss(functional_call(run.model, values, (x,)), y) * tokens_in(y) / tokens

    run.optimizer.zero_grad()
    mean = 0.0
    for x, y in window:
        gradients, loss = grad_and_value(share)(named, x, y)
        for name, p in run.model.named_parameters():
            p.grad = gradients[name] if p.grad is None else p.grad + gradients[name]
        mean += float(loss)
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, tokens)


def train(config):
    run, seen = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen <= run.history.updates:
                continue
            train_window(run, window, config.max_norm)
            if run.history.updates == config.stop_after:
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
                return run.history
    return run.history
