"""Lightning Fabric: the loop of its page on gradient accumulation, with 4 for 8 and a loss in place of its dots."""

import torch
from common import TinyModel, loader, loss_of, watched
from lightning.fabric import Fabric

model = TinyModel()


def train():
    fabric = Fabric(accelerator="cpu", devices=1)
    module, optimizer = fabric.setup(model, torch.optim.AdamW(model.parameters()))
    for _ in range(2):
        for iteration, (x, y) in enumerate(fabric.setup_dataloaders(loader())):
            is_accumulating = iteration % 4 != 0
            with fabric.no_backward_sync(module, enabled=is_accumulating):
                fabric.backward(loss_of(module(x), y))
            if not is_accumulating:
                optimizer.step()
                optimizer.zero_grad()


watched(model, train, accumulation_steps=4)
