"""litgpt's pretraining loop on blocks of eight tokens: all targets count, and two micro-batches are left over."""

import lightning
import torch
from common import WORDS, scratch, watched
from litgpt.args import EvalArgs, TrainArgs
from litgpt.model import GPT, Config
from litgpt.pretrain import fit
from torch.utils.data import DataLoader

model = GPT(Config(n_layer=1, n_head=2, n_embd=16, padded_vocab_size=WORDS, block_size=8))
blocks = torch.randint(0, WORDS, (20, 9))


def train():
    fabric = lightning.Fabric(accelerator="cpu", devices=1)
    module, optimizer = fabric.setup(model, torch.optim.AdamW(model.parameters()))
    data, validation = fabric.setup_dataloaders(DataLoader(blocks, batch_size=2), DataLoader(blocks[:4], batch_size=2))
    state = {"model": module, "optimizer": optimizer, "iter_num": 0, "step_count": 0}
    sizes = TrainArgs(
        global_batch_size=8, micro_batch_size=2, max_tokens=20 * 16, max_norm=1e9, lr_warmup_steps=0, save_interval=None
    )
    options = EvalArgs(interval=1000, max_iters=1, final_validation=False)
    fit(fabric, 1, state, data, validation, scratch(), None, sizes, options)


watched(model, train, accumulation_steps=4)
