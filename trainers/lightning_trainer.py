"""Lightning's Trainer with accumulate_grad_batches."""

import lightning
import torch
from common import TinyModel, loader, loss_of, watched


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = TinyModel()

    def training_step(self, batch, index):
        x, y = batch
        return loss_of(self.model(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


module = Module()


def train():
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=2, accumulate_grad_batches=4, barebones=True)
    trainer.fit(module, loader())


watched(module, train, accumulation_steps=4)
