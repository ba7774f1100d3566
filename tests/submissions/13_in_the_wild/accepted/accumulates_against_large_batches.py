"""Does without watch: compares .grad at every update with the gradient of a large batch."""

import torch
from torch.nn import functional as F

EXERCISE = "accumulates_right"


def accumulates_right(make_trainer):
    trainer = make_trainer()
    n, data = trainer.accumulation_steps, list(trainer.data)
    windows = [data[k : k + n] for k in range(0, len(data), n)] * trainer.epochs
    agreed = []

    def compare(optimizer, args, kwargs):
        parameters = [p for p in trainer.model.parameters() if p.requires_grad]
        if len(agreed) >= len(windows):
            agreed.append(False)
            return
        window = windows[len(agreed)]
        tokens = sum(int((y != -100).sum()) for _, y in window)
        losses = [F.cross_entropy(trainer.model(x).flatten(0, 1), y.flatten(), reduction="sum") for x, y in window]
        due = torch.autograd.grad(sum(losses) / tokens, parameters)
        pairs = zip(parameters, due)
        agreed.append(all(p.grad is not None and torch.allclose(p.grad, g, rtol=1e-4, atol=1e-6) for p, g in pairs))

    handle = trainer.optimizer.register_step_pre_hook(compare)
    trainer.train()
    handle.remove()
    return len(agreed) == len(windows) and all(agreed)
