# Leaves files, modules, environment variables, random states and a full temporary folder to the next submission.
import builtins
import os
import random
import sys
import types

import matplotlib
import torch

for place in ("/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~")):
    try:
        with open(f"{place}/left_by_an_attack", "w") as file:
            file.write("x" * 1000)
    except OSError:
        pass
os.environ["LEFT_BY_AN_ATTACK"] = "1"
sys.modules["left_by_an_attack"] = types.ModuleType("left_by_an_attack")
builtins.left_by_an_attack = True
sys.path.insert(0, "/left_by_an_attack")
random.seed(1)
torch.manual_seed(1)
torch.set_num_threads(2)
torch.set_default_dtype(torch.float16)
matplotlib.rcParams["lines.linewidth"] = 77
torch.set_default_dtype(torch.float32)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    return []
