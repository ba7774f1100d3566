"""What watching may change in torch while it lasts, and must not have changed when it ends."""

from __future__ import annotations

from importlib import import_module

import torch
from torch import nn
from torch.utils.data import DataLoader


def as_torch_is() -> list:
    module = import_module("torch.optim.optimizer")
    return [
        *(torch.autograd.backward, torch.autograd.grad, DataLoader.__iter__, torch.amp.GradScaler.scale),
        *(torch.amp.GradScaler.step, nn.parallel.DistributedDataParallel.forward, torch.distributed.all_reduce),
        *(dict(module._global_optimizer_pre_hooks), dict(module._global_optimizer_post_hooks)),
        torch._C._len_torch_function_stack(),
    ]
