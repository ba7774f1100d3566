"""Clips full windows alone, and does not restore its schedule."""

import os
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in

EXERCISE = "train"
MISTAKES = ("resume-without-schedule",)
LOST = ("uneven", "resume")
SAYS = ("One whose leftovers are not clipped does.",)


def train(config):
    run = config.build()
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            if name != "scheduler":
                run.parts()[name].load_state_dict(state)
    done, number = run.history.updates, 0
    for epoch in range(config.epochs):
        stream = config.micro_batches(epoch)
        while window := list(islice(stream, config.accumulation_steps)):
            number += 1
            if number <= done:
                continue
            run.optimizer.zero_grad()
            tokens = sum(tokens_in(y) for _, y in window)
            total = 0.0
            for x, y in window:
                loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
                loss.backward()
                total += loss.item()
            limit = config.max_norm if len(window) == config.accumulation_steps else float("inf")
            norm = clip_grad_norm_(run.model.parameters(), limit).item()
            rate = run.optimizer.param_groups[0]["lr"]
            run.optimizer.step()
            run.scheduler.step()
            run.history.add(total, norm, rate, tokens)
            if run.history.updates == config.stop_after:
                torch.save({n: p.state_dict() for n, p in run.parts().items()}, config.checkpoint)
                return run.history
    return run.history
