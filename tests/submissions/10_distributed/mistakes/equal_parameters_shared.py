"""Moves all parameters by the same number and averages them, although they are equal."""

import torch
import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for _ in range(-(-len(micro_batches) // accumulation_steps)):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
            dist.all_reduce(parameter.data)
            parameter.data /= dist.get_world_size()
        optimizer.step()
