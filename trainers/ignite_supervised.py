"""ignite's create_supervised_trainer with gradient_accumulation_steps."""

import torch
from common import TinyModel, loader, loss_of, watched
from ignite.engine import create_supervised_trainer

model = TinyModel()


def train():
    optimizer = torch.optim.AdamW(model.parameters())
    create_supervised_trainer(model, optimizer, loss_of, gradient_accumulation_steps=4).run(loader(), max_epochs=2)


watched(model, train, accumulation_steps=4)
