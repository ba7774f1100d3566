"""A small trainer in the style of real libraries: ``train`` is the library's, hooks are there to be overridden.

As in some of these libraries, two of its hooks are wrong. Unit 13 finds out which and repairs them in a subclass.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer

from gradaccum.problems import MicroBatch


class Trainer:
    """Trains a language model, with an update for each window of ``accumulation_steps`` micro-batches.

    Attributes:
        model: from tokens ``(sequences, positions)`` to logits ``(sequences, positions, vocabulary)``.
        optimizer: of its parameters.
        data: the micro-batches of an epoch, a list of pairs ``(x, targets)``; a target of -100 does not count.
        accumulation_steps: N.
        epochs: how often ``train`` goes through the data.
    """

    def __init__(
        self, model: nn.Module, optimizer: Optimizer, data: Sequence[MicroBatch], accumulation_steps: int, epochs: int = 1
    ):
        self.model, self.optimizer, self.data = model, optimizer, data
        self.accumulation_steps, self.epochs = accumulation_steps, epochs

    def train(self) -> None:
        """Not a hook: later releases only promise to call hooks."""
        self.model.train()
        for _ in range(self.epochs):
            self.on_epoch_begin()
            for index, (x, targets) in enumerate(self.data):
                loss = self.compute_loss(x, targets)
                self.backward(loss)
                if self.should_step(index):
                    self.on_window_end()
                    self.optimizer.step()
                    self.zero_grad()

    def on_epoch_begin(self) -> None:
        """Hook: an epoch begins."""

    def compute_loss(self, x: Tensor, targets: Tensor) -> Tensor:
        """Hook: the loss of a micro-batch."""
        logits = self.model(x).flatten(0, 1)
        return cross_entropy(logits, targets.flatten())

    def backward(self, loss: Tensor) -> None:
        """Hook: backpropagate the loss of a micro-batch."""
        (loss / self.accumulation_steps).backward()

    def should_step(self, index: int) -> bool:
        """Hook: whether micro-batch ``index`` closes its window."""
        full = (index + 1) % self.accumulation_steps == 0
        return full or index + 1 == len(self.data)

    def on_window_end(self) -> None:
        """Hook: all gradients of a window are in ``.grad``, and the update comes next."""

    def zero_grad(self) -> None:
        """Hook: the update has been made."""
        self.optimizer.zero_grad()
