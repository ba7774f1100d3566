"""open_clip's train_one_epoch, as it is released, with accum_freq: features of all micro-batches are in every loss."""

from types import SimpleNamespace

import torch
from common import let_torchvision_load, watched

let_torchvision_load()
from open_clip import CLIP, ClipLoss
from open_clip_train.train import train_one_epoch

vision = {"image_size": 8, "patch_size": 4, "layers": 1, "width": 16, "head_width": 8}
text = {"context_length": 8, "vocab_size": 32, "layers": 1, "width": 16, "heads": 2}
model = CLIP(16, vision, text, output_dict=True)
batches = [(torch.randn(3, 3, 8, 8), torch.randint(1, 32, (3, 8))) for _ in range(8)]


class Loader(list):
    num_batches, num_samples = len(batches), 3 * len(batches)


def train():
    arguments = SimpleNamespace(
        device="cpu", precision="fp32", distill=False, accum_freq=4, skip_scheduler=True, horovod=False, grad_clip_norm=None,
        rank=0, local_rank=0, world_size=1, log_every_n_steps=100, wandb=False, log_local=False, batch_size=3,
    )  # fmt: skip
    data = {"train": SimpleNamespace(dataloader=Loader(batches), set_epoch=lambda epoch: None)}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(2):
        train_one_epoch(model, data, ClipLoss(), epoch, optimizer, None, None, None, arguments)


watched(model, train, accumulation_steps=4)
