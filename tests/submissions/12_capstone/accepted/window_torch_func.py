"""Differentiates a functional call with torch.func."""

from torch.func import functional_call, grad_and_value
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"


def train_window(run, window, max_norm):
    named = dict(run.model.named_parameters())
    tokens = sum(tokens_in(y) for _, y in window)

    def share(values, x, y):
        return token_loss(functional_call(run.model, values, (x,)), y) * tokens_in(y) / tokens

    run.optimizer.zero_grad()
    mean = 0.0
    for x, y in window:
        detached = {name: p.detach() for name, p in named.items()}
        gradients, loss = grad_and_value(share)(detached, x, y)
        for name, p in named.items():
            p.grad = gradients[name] if p.grad is None else p.grad + gradients[name]
        mean += float(loss)
    norm = clip_grad_norm_(named.values(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(mean, norm, rate, tokens)
