"""Scales gradients in hooks as they arrive, and clears at the end as well."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train_window"


def train_window(run, window, max_norm):
    tokens, share, reported = sum(tokens_in(y) for _, y in window), [0.0], []
    run.optimizer.zero_grad(set_to_none=False)
    hooks = [p.register_hook(lambda g: g * share[0]) for p in run.model.parameters()]
    for x, y in window:
        share[0] = tokens_in(y) / tokens
        loss = token_loss(run.model(x), y)
        loss.backward()
        reported.append(float(loss.detach()) * share[0])
    for hook in hooks:
        hook.remove()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(sum(reported), norm, rate, tokens)
    run.optimizer.zero_grad()
