"""accelerate: the loop of its documentation, with accumulate()."""

import torch
from accelerate import Accelerator
from common import TinyModel, loader, loss_of, watched

model = TinyModel()


def train():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    prepared, optimizer, data = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader())
    for _ in range(2):
        for x, y in data:
            with accelerator.accumulate(prepared):
                accelerator.backward(loss_of(prepared(x), y))
                optimizer.step()
                optimizer.zero_grad()


watched(model, train, accumulation_steps=4)
