"""Clips the momentum buffers as well."""

from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("bound",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        optimizer.step()
        for state in optimizer.state.values():
            if state.get("momentum_buffer") is not None:
                state["momentum_buffer"] *= min(1.0, max_norm / (state["momentum_buffer"].norm().item() + 1e-12))
    return norms
