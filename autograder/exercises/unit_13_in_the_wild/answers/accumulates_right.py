"""Asks `gradaccum.watch`.

Compares `.grad` at every update with the gradient of one large batch, which takes a list of all data.
"""

import torch
from torch.nn import functional as F


def accumulates_right(make_trainer):
    trainer = make_trainer()
    n, data = trainer.accumulation_steps, list(trainer.data)
    windows = [data[k : k + n] for k in range(0, len(data), n)] * trainer.epochs
    agreed = []  # for each update, whether it held what was due

    def compare(optimizer, args, kwargs):
        parameters = [p for p in trainer.model.parameters() if p.requires_grad]
        if len(agreed) >= len(windows):
            agreed.append(False)
            return
        window = windows[len(agreed)]
        tokens = sum(int((y != -100).sum()) for _, y in window)
        losses = [F.cross_entropy(trainer.model(x).flatten(0, 1), y.flatten(), reduction="sum") for x, y in window]
        due = torch.autograd.grad(sum(losses) / tokens, parameters)
        pairs = zip(parameters, due, strict=True)
        agreed.append(all(p.grad is not None and torch.allclose(p.grad, g, rtol=1e-4, atol=1e-6) for p, g in pairs))

    handle = trainer.optimizer.register_step_pre_hook(compare)
    trainer.train()
    handle.remove()
    return len(agreed) == len(windows) and all(agreed)
