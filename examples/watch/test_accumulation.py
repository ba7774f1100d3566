"""A regression test for a trainer: its updates hold what is due. Put your own model and trainer in place of these."""

import torch


def train(model, micro_batches, accumulation_steps):
    """Stands for your trainer."""
    optimizer = torch.optim.AdamW(model.parameters())
    for start in range(0, len(micro_batches), accumulation_steps):
        window = micro_batches[start : start + accumulation_steps]
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            loss = torch.nn.functional.mse_loss(model(x), y)
            (loss * len(x) / samples).backward()
        optimizer.step()


def test_updates_hold_what_is_due(due_updates):
    """``due_updates`` comes with gradaccum."""
    model = torch.nn.Linear(4, 2)
    ragged = [(torch.randn(size, 4), torch.randn(size, 2)) for size in (3, 1, 2, 4, 2, 3, 1)]  # with a leftover of three
    with due_updates(model, accumulation_steps=4):
        train(model, ragged, accumulation_steps=4)
