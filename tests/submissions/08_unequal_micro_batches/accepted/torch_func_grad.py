"""Takes gradients with torch.func and functional_call."""

from itertools import islice

from torch.func import functional_call, grad_and_value
from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    def loss_of(values, x, targets):
        logits = functional_call(model, values, (x,))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")

    stream, losses = iter(micro_batches), []
    learnt = {name: p for name, p in model.named_parameters() if p.requires_grad}
    while window := list(islice(stream, accumulation_steps)):
        tokens = max(1, sum((targets != ignore_index).sum().item() for _, targets in window))
        total, sums = 0.0, {}
        for x, targets in window:
            gradients, loss = grad_and_value(loss_of)({name: p.detach() for name, p in learnt.items()}, x, targets)
            sums = {name: sums.get(name, 0) + g / tokens for name, g in gradients.items()}
            total += loss.item() / tokens
        for name, p in learnt.items():
            p.grad = sums[name]
        optimizer.step()
        losses.append(total)
    return losses
