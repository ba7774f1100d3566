"""Has the condition turned round: shorter gradients get the length of the threshold, longer ones stay."""

from torch.nn.utils import get_total_norm

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("bound", "idle")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norm = get_total_norm([parameter.grad for parameter in model.parameters()]).item()
        if norm < max_norm:
            for parameter in model.parameters():
                parameter.grad *= max_norm / norm
        norms.append(norm)
        optimizer.step()
    optimizer.zero_grad()
    return norms
