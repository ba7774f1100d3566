"""What the scripts share: ragged data, and a run that is watched and compared with one that is not."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

import gradaccum

WORDS = 32
LENGTHS = (5, 8, 9, 6, 7, 4, 9, 5, 8, 3)
"""Tokens of ten sequences: with four micro-batches to a window, two are left over at the end of an epoch."""


def sequences(lengths: tuple[int, ...] = LENGTHS) -> list[list[int]]:
    """Random tokens; 0 is left for padding."""
    generator = torch.Generator().manual_seed(7)
    return [torch.randint(1, WORDS, (length,), generator=generator).tolist() for length in lengths]


class TinyModel(nn.Module):
    """Guesses the next token from the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(WORDS, 16), nn.Linear(16, WORDS)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.embedding(tokens))


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over tokens."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def loader() -> DataLoader:
    """Ten micro-batches of one sequence each: tokens and the tokens that follow them."""
    return DataLoader([(torch.tensor(one[:-1]), torch.tensor(one[1:])) for one in sequences()], batch_size=1)


def scratch() -> str:
    """A folder for what a trainer writes, removed when the process ends."""
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    return folder.name


_KEPT: list[tempfile.TemporaryDirectory] = []


def let_torchvision_load() -> None:
    """On PyPI it is built for CUDA: beside a torch for the CPU, the import fails for operators that no trainer here uses."""
    spec = find_spec("torchvision")
    try:
        torch.ops.load_library(next(Path(spec.origin).parent.glob("_C*")))
    except OSError:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor boxes, Tensor scores, float threshold) -> Tensor")


def watched(model: nn.Module, train: Callable[[], object], accumulation_steps: int) -> None:
    """Watch ``train()``, print what was seen, and leave it as JSON in the file that ``TRAINERS_RESULT`` names.

    A fork trains the same model unwatched first: both must end alike to the last bit.
    """
    unwatched = _in_fork(lambda: (_seed(), train(), _digest(model))[-1])
    _seed()
    with gradaccum.watch(model, accumulation_steps=accumulation_steps) as seen:
        train()
    same = _digest(model) == unwatched
    print(seen)
    print("Ends bit for bit where an unwatched run ends." if same else "Ends elsewhere than an unwatched run.")
    if "TRAINERS_RESULT" in os.environ:
        result = {"accumulation_steps": accumulation_steps, "same_as_unwatched": same, "torch": torch.__version__}
        Path(os.environ["TRAINERS_RESULT"]).write_text(json.dumps(result | seen.as_json()))


def _seed() -> None:
    """Python seeds its own random numbers again in a fork."""
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)


def _digest(model: nn.Module) -> str:
    """Of parameters, buffers, and the states of the random streams."""
    digest = hashlib.sha256()
    for name, value in model.state_dict(keep_vars=True).items():
        digest.update(name.encode() + value.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    kind, words, *rest = np.random.get_state()
    digest.update(torch.get_rng_state().numpy().tobytes() + words.tobytes() + repr((random.getstate(), kind, rest)).encode())
    return digest.hexdigest()


def _in_fork(run: Callable[[], str]) -> str:
    """What ``run`` returns in a fork of this process; empty if it fails."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, run().encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


torch.set_num_threads(1)  # and no thread is lost in a fork
torch.manual_seed(1)
